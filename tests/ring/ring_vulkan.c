/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings between CUDA and Vulkan on one thread that never waits. All work is submitted to the stream
 * and to the queue while a gate blocks one of them, and must complete in order when the gate opens.
 */
#define _GNU_SOURCE
#include "ring_vulkan.h"
#include "tests/support/support_vulkan_image.h"

#include "lib/sync/sync.h"

#define SLOTS 4

static struct ring_sync sync;
static CUdeviceptr copies; /* copies of the slots that CUDA reads */
static struct vulkan_host *hosts[SLOTS];

static gr_ring *begin(size_t n, gr_side producer, gr_ring_mode mode)
{
    sync = ring_sync_begin();
    for (int i = 0; i < SLOTS; i++)
        hosts[i] = vulkan_host(RING_SIZE);
    CU(MemAlloc(&copies, SLOTS * RING_SIZE));
    CU(MemsetD8Async(copies, 0xEE, SLOTS * RING_SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    return must_make_vulkan_ring(n, &sync,
                                 &GR_INIT(gr_ring_options, .producer = producer, .mode = mode));
}

/* Frees everything. Call it when all work is done. */
static void end(gr_ring *ring)
{
    CU(StreamSynchronize(fx.stream));
    CU(StreamSynchronize(fx.other));
    vulkan_finish();
    gr_ring_free(ring);
    CU(MemFree(copies));
    ring_sync_end(&sync);
}

static void copy_slot(const gr_slot *slot, size_t to)
{
    CU(MemcpyDtoDAsync(copies + to * RING_SIZE, gr_buffer_ptr(slot->buffer), RING_SIZE,
                       gr_buffer_get_info(slot->buffer)->stream));
}

static void assert_copy(size_t of, int value)
{
    unsigned char bytes[RING_SIZE];
    CU(StreamSynchronize(fx.stream));
    cuda_read(bytes, copies + of * RING_SIZE, RING_SIZE, fx.stream);
    assert_bytes(bytes, RING_SIZE, value);
}

/*
 * Vulkan copies a frame from CUDA to the host and gives the frame back. The gate, unless it is
 * NULL, blocks the copy.
 */
static void vulkan_reads(gr_ring *ring, struct vulkan_host *const to[],
                         const struct vulkan_gate *gate)
{
    const gr_slot *slot;
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    submit_read(&slot, 1, to, gate);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

GROUP("Vulkan", add_vulkan_case, add_copied_vulkan_case, add_staged_vulkan_case)

VULKAN_TEST(vulkan_reads_after_cuda_has_written)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slots[SLOTS];
    struct gate *gate = gate_put(fx.stream);
    for (int i = 0; i < SLOTS; i++) {
        must_acquire_write(ring, GR_SIDE_CUDA, &slots[i], 1);
        slot_fill(slots[i], i + 1);
        assert_ok(gr_ring_hand_over(ring, &slots[i], 1));
    }
    for (int i = 0; i < SLOTS; i++)
        must_acquire_read(ring, GR_SIDE_CUDA, &slots[i], 1);
    /* Shows that a submit without a wait for CUDA reads too early. */
    gr_slot unordered = *slots[0];
    unordered.submit = NULL;
    submit_read((const gr_slot *[]){&unordered}, 1, hosts, NULL);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 0);
    for (int i = 0; i < SLOTS; i++) {
        ck_assert_ptr_eq(wait_of(slots[i]->submit), sync.release);
        submit_read(&slots[i], 1, &hosts[i], NULL);
        assert_ok(gr_ring_give_back(ring, &slots[i], 1));
    }
    gate_open(gate);
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, i + 1);
    end(ring);
}

/*
 * The second variant cancels the read after its submit. The next write must wait for the submit,
 * although the frame counts as unread.
 */
VULKAN_TEST(cuda_writes_again_after_vulkan_has_read, 2)
{
    gr_ring *ring = begin(1, GR_SIDE_CUDA, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    const gr_slot *slot;
    struct vulkan_gate *gate = vulkan_gate();
    write_frame(ring, GR_SIDE_CUDA, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    submit_read(&slot, 1, hosts, gate);
    assert_ok((_i ? gr_ring_cancel_read : gr_ring_give_back)(ring, &slot, 1));
    write_frame(ring, GR_SIDE_CUDA, 2);
    vulkan_reads(ring, hosts + 1, NULL);
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 1);
    assert_bytes(hosts[1]->bytes, RING_SIZE, 2);
    end(ring);
}

/* The first frame is dropped or discarded, so another stream writes the slot next. */
VULKAN_TEST(cuda_overwrites_an_unread_frame_after_its_pending_write, 2)
{
    gr_ring *ring = begin(1, GR_SIDE_CUDA, GR_RING_NEWEST);
    const gr_slot *slot;
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    struct gate *gate = gate_put(fx.stream);
    slot_fill(slot, 1);
    assert_ok((_i ? gr_ring_cancel_write : gr_ring_hand_over)(ring, &slot, 1));
    assert_ok(gr_ring_acquire_write(ring, fx.other, &slot, 1, 0));
    slot_fill(slot, 2);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    vulkan_reads(ring, hosts, NULL);
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.other));
    gate_open(gate);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 2);
    end(ring);
}

VULKAN_TEST(a_group_has_one_wait_and_one_signal)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slots[SLOTS];
    for (uint64_t round = 1; round < 6; round++) {
        int value = (int)round * SLOTS;
        must_acquire_write(ring, GR_SIDE_CUDA, slots, SLOTS);
        for (int i = 0; i < SLOTS; i++)
            slot_fill(slots[i], value + i);
        assert_ok(gr_ring_hand_over(ring, slots, SLOTS));
        must_acquire_read(ring, GR_SIDE_CUDA, slots, SLOTS);
        for (int i = 0; i < SLOTS; i++) {
            ck_assert_ptr_eq(slots[i]->submit, slots[0]->submit);
            ck_assert_uint_eq(wait_value_of(slots[i]->submit), round);
            ck_assert_uint_eq(signal_value_of(slots[i]->submit), round);
        }
        submit_read(slots, SLOTS, hosts, NULL);
        assert_ok(gr_ring_give_back(ring, slots, SLOTS));
        ck_assert_ptr_null(slots[0]->submit);
        vulkan_finish();
        for (int i = 0; i < SLOTS; i++)
            assert_bytes(hosts[i]->bytes, RING_SIZE, value + i);
    }
    end(ring);
}

/* A write waits only for the read of its own slot, although later reads have not ended. */
VULKAN_TEST(cuda_waits_for_the_read_of_its_slot)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 0; i < SLOTS; i++)
        write_frame(ring, GR_SIDE_CUDA, i + 1);
    for (int i = 0; i < SLOTS; i++)
        vulkan_reads(ring, &hosts[i], i == SLOTS - 1 ? gate : NULL);
    for (int i = 0; i < SLOTS - 1; i++)
        write_frame(ring, GR_SIDE_CUDA, 10 + i);
    CU(StreamSynchronize(fx.stream));
    write_frame(ring, GR_SIDE_CUDA, 10 + SLOTS - 1);
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, i + 1);
    for (int i = 0; i < SLOTS; i++) {
        vulkan_reads(ring, &hosts[i], NULL);
        vulkan_finish();
        assert_bytes(hosts[i]->bytes, RING_SIZE, 10 + i);
    }
    end(ring);
}

/*
 * The CPU does not wait: a producer that needs all slots gets all of them, and the GPU waits for
 * the read.
 */
VULKAN_TEST(a_producer_acquires_slots_that_vulkan_is_still_reading, 2)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    const gr_slot *all[SLOTS];
    struct vulkan_gate *gate = vulkan_gate();
    write_frame(ring, GR_SIDE_CUDA, 1);
    vulkan_reads(ring, hosts, gate);
    assert_slots(ring, SLOTS, 0, 0, 0);
    must_acquire_write(ring, GR_SIDE_CUDA, all, SLOTS);
    for (int i = 0; i < SLOTS; i++)
        slot_fill(all[i], 2 + i);
    assert_ok(gr_ring_hand_over(ring, all, SLOTS));
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, all, SLOTS);
    submit_read(all, SLOTS, hosts, NULL);
    assert_ok(gr_ring_give_back(ring, all, SLOTS));
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, 2 + i);
    end(ring);
}

/*
 * The program cancels a read because vkQueueSubmit() failed: the frame can be read again, and
 * nothing waits for the missing signal.
 */
VULKAN_TEST(vulkan_reads_without_a_submit_can_be_cancelled, 2)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    const gr_slot *slots[3];
    for (int i = 1; i <= 3; i++)
        write_frame(ring, GR_SIDE_CUDA, i);
    must_acquire_read(ring, GR_SIDE_CUDA, slots, 3);
    assert_ok(gr_ring_cancel_read(ring, slots, 3));
    ck_assert_ptr_null(slots[0]->submit);
    assert_slots(ring, SLOTS - 3, 0, 3, 0);
    must_acquire_read(ring, GR_SIDE_CUDA, slots, 3);
    /* the work on the other two slots is submitted */
    assert_ok(gr_ring_cancel_read(ring, &slots[0], 1));
    submit_read(&slots[1], 2, hosts, NULL);
    assert_ok(gr_ring_give_back(ring, &slots[1], 2));
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 2);
    assert_bytes(hosts[1]->bytes, RING_SIZE, 3);
    if (_i == 0) {
        vulkan_reads(ring, hosts, NULL);
        vulkan_finish();
        assert_bytes(hosts[0]->bytes, RING_SIZE, 1);
    }
    for (int i = 0; i < SLOTS; i++)
        write_frame(ring, GR_SIDE_CUDA, 10 + i);
    CU(StreamSynchronize(fx.stream));
    end(ring);
}

static void assert_refused(gr_ring *ring, gr_side producer, const gr_slot *const slots[], size_t n)
{
    const bool writes = producer == GR_SIDE_GRAPHICS;
    const char *words[] = {"gr_vk_submit()", "gr_submit_commit()",
                           writes ? "gr_ring_cancel_write()" : "gr_ring_cancel_read()"};
    for (int i = 0; i < 3; i++)
        assert_fails((writes ? gr_ring_hand_over : gr_ring_give_back)(ring, slots, n), GR_ERR_STATE,
                     0, words[i]);
}

/*
 * Without the refusal a stream would wait forever for the signal, and gr_ring_free() for the
 * stream.
 */
VULKAN_TEST(slots_without_their_submit_cannot_be_returned, 2)
{
    const gr_side producer = _i ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA;
    gr_ring *ring = begin(SLOTS, producer, GR_RING_LOSSLESS);
    const gr_slot *slots[2];
    for (int i = 1; !_i && i <= 2; i++)
        write_frame(ring, GR_SIDE_CUDA, i);
    assert_ok(
        (_i ? gr_ring_acquire_write : gr_ring_acquire_read)(ring, GR_STREAM_NONE, slots, 2, 0));
    gr_submit *submit = slots[0]->submit;
    assert_refused(ring, producer, slots, 2);
    assert_refused(ring, producer, &slots[1], 1);
    gr_clear_error();
    gr_submit_free(submit);
    assert_error(GR_ERR_STATE, 0, "belongs to slots of a ring");
    assert_refused(ring, producer, slots, 2);
    ck_assert_ptr_eq(slots[0]->submit, submit);
    ck_assert_ptr_eq(slots[1]->submit, submit);
    assert_slots(ring, SLOTS - 2, _i ? 2 : 0, 0, _i ? 0 : 2);
    assert_ok((_i ? gr_ring_cancel_write : gr_ring_cancel_read)(ring, slots, 2));
    assert_slots(ring, _i ? SLOTS : SLOTS - 2, 0, _i ? 0 : 2, 0);
    /* Nothing waits for the work that was not submitted: all slots can be used again. */
    for (int i = 0; !_i && i < 2; i++)
        vulkan_reads(ring, &hosts[i], NULL);
    for (int i = 0; !_i && i < SLOTS; i++)
        write_frame(ring, GR_SIDE_CUDA, 3 + i);
    gr_clear_error();
    end(ring);
}

/* The submit belongs to the ring: calls by the program change nothing that the ring relies on. */
VULKAN_TEST(a_program_cannot_free_or_recommit_the_submit_of_a_slot)
{
    gr_ring *ring = begin(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slot;
    write_frame(ring, GR_SIDE_CUDA, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    submit_read(&slot, 1, hosts, NULL);
    assert_fails(gr_submit_commit(slot->submit), GR_ERR_STATE, 0, "committed");
    gr_clear_error();
    gr_submit_free(slot->submit);
    assert_error(GR_ERR_STATE, 0, "belongs to slots of a ring");
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 1);
    gr_clear_error();
    end(ring);
}

/* ---- Vulkan writes, CUDA reads --------------------------------------------------------------- */

static void vulkan_writes(gr_ring *ring, int value)
{
    const gr_slot *slot;
    must_acquire_write(ring, GR_SIDE_GRAPHICS, &slot, 1);
    submit_fill(&slot, 1, value, NULL);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
}

VULKAN_TEST(cuda_reads_after_vulkan_has_written)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    const gr_slot *slots[SLOTS];
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 0; i < SLOTS; i++) {
        must_acquire_write(ring, GR_SIDE_GRAPHICS, &slots[i], 1);
        submit_fill(&slots[i], 1, i + 1, gate);
        assert_ok(gr_ring_hand_over(ring, &slots[i], 1));
    }
    for (int i = 0; i < SLOTS; i++)
        must_acquire_read(ring, GR_SIDE_GRAPHICS, &slots[i], 1);
    /* Shows that a copy without a wait for Vulkan reads too early. */
    unsigned char bytes[RING_SIZE];
    cuda_read(bytes, gr_buffer_ptr(slots[0]->buffer), RING_SIZE, fx.other);
    if (!vk.copies) /* with copies, the memory is still undefined */
        assert_bytes(bytes, RING_SIZE, 0);
    for (int i = 0; i < SLOTS; i++) {
        copy_slot(slots[i], (size_t)i);
        assert_ok(gr_ring_give_back(ring, &slots[i], 1));
    }
    vulkan_gate_open(gate);
    for (int i = 0; i < SLOTS; i++)
        assert_copy((size_t)i, i + 1);
    end(ring);
}

VULKAN_TEST(vulkan_writes_again_after_cuda_has_read)
{
    gr_ring *ring = begin(1, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    const gr_slot *slot;
    vulkan_writes(ring, 1);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, &slot, 1);
    struct gate *gate = gate_put(fx.stream);
    copy_slot(slot, 0);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    vulkan_writes(ring, 2);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, &slot, 1);
    copy_slot(slot, 1);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    sleep_ms(20);
    gate_open(gate);
    assert_copy(0, 1);
    assert_copy(1, 2);
    end(ring);
}

/* The submit of a discarded slot may be left out. */
VULKAN_TEST(vulkan_producers_may_drop_and_discard_frames)
{
    gr_ring *ring = begin(2, GR_SIDE_GRAPHICS, GR_RING_NEWEST);
    const gr_slot *slots[2];
    for (int i = 1; i < 6; i++) {
        must_acquire_write(ring, GR_SIDE_GRAPHICS, slots, 2);
        submit_fill(slots, 1, i, NULL);
        assert_ok(gr_ring_hand_over(ring, &slots[0], 1));
        assert_ok(gr_ring_cancel_write(ring, &slots[1], 1));
    }
    must_acquire_write(ring, GR_SIDE_GRAPHICS, slots, 1);
    assert_ok(gr_ring_cancel_write(ring, slots, 1));
    must_acquire_read(ring, GR_SIDE_GRAPHICS, slots, 1);
    ck_assert_uint_eq(slots[0]->frame, 5);
    copy_slot(slots[0], 0);
    assert_ok(gr_ring_give_back(ring, slots, 1));
    assert_copy(0, 5);
    assert_frames(ring, 5, 1, 4);
    end(ring);
}

/* ---- Slots that Vulkan has ------------------------------------------------------------------- */

/* A use in any layout by a submit without commands. */
static const gr_vk_use in_general = {.struct_size = sizeof(gr_vk_use),
                                     .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                     .layout = VK_IMAGE_LAYOUT_GENERAL};
static const gr_vk_use discarding = {.struct_size = sizeof(gr_vk_use),
                                     .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};

/*
 * Catches: Vulkan kept the slot, every later acquire of it failed, and no call could hand it to
 * CUDA.
 */
VULKAN_TEST(submits_that_keep_a_slot_are_refused, 2)
{
    const gr_side producer = _i ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA;
    gr_ring *ring = begin(1, producer, GR_RING_LOSSLESS);
    const gr_slot *slot;
    for (int i = 1; i <= 3; i++) {
        if (!_i)
            write_frame(ring, GR_SIDE_CUDA, i);
        assert_ok(
            (_i ? gr_ring_acquire_write : gr_ring_acquire_read)(ring, GR_STREAM_NONE, &slot, 1, 0));
        gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .first = &in_general);
        assert_fails(gr_vk_submit(slot->submit, &desc), GR_ERR_STATE, 0, "`last`");
        desc.last = &in_general;
        assert_ok(gr_vk_submit(slot->submit, &desc));
        assert_ok((_i ? gr_ring_hand_over : gr_ring_give_back)(ring, &slot, 1));
        if (_i) {
            must_acquire_read(ring, producer, &slot, 1);
            assert_ok(gr_ring_give_back(ring, &slot, 1));
        }
    }
    VK(QueueWaitIdle(vk.h->graphics));
    end(ring);
}

/* Catches: CUDA wrote to images whose layout was undefined. */
VULKAN_IMAGE_TEST(new_images_are_handed_over_before_cuda_writes_them)
{
    const VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 16, 16, 1,
                          VK_IMAGE_USAGE_SAMPLED_BIT);
    gr_resource *images[2];
    const gr_slot *slots[2];
    for (int i = 0; i < 2; i++)
        images[i] = must_make(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    assert_null(gr_ring_create(images, 2, NULL), GR_ERR_STATE, 0, "gr_vk_hand_over()");
    assert_ok(gr_vk_hand_over(images, 1, VK_IMAGE_LAYOUT_UNDEFINED));
    assert_null(gr_ring_create(images, 2, NULL), GR_ERR_STATE, 0, "gr_vk_hand_over()");
    gr_ring *ring = must_make(gr_ring_create(images, 1, NULL));
    assert_fails(gr_ring_resize(ring, images + 1, 1), GR_ERR_STATE, 0, "gr_vk_hand_over()");
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 1);
    assert_ok(gr_ring_cancel_write(ring, slots, 1));
    VK(QueueWaitIdle(vk.h->graphics));
    gr_ring_free(ring);
    /* Where Vulkan writes first, its first submit hands the new image over. */
    const gr_ring_options vulkan_first = GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS);
    ring = must_make(gr_ring_create(images, 2, &vulkan_first));
    for (int i = 0; i < 3; i++) {
        must_acquire_write(ring, GR_SIDE_GRAPHICS, slots, 2);
        assert_ok(gr_vk_submit(slots[0]->submit, &GR_INIT(gr_vk_submit_desc, .first = &in_general,
                                                          .last = &discarding)));
        assert_ok(gr_ring_hand_over(ring, slots, 2));
        must_acquire_read(ring, GR_SIDE_GRAPHICS, slots, 2);
        assert_ok(gr_ring_give_back(ring, slots, 2));
    }
    CU(StreamSynchronize(fx.stream));
    VK(QueueWaitIdle(vk.h->graphics));
    gr_ring_free(ring);
    free_resources(images, 2);
}

/* ---- Slots that leave ------------------------------------------------------------------------ */

/*
 * The slots are Vulkan buffers: the validation layer would report a buffer that is destroyed while
 * a submit uses it.
 */
VULKAN_TEST(leaving_slots_are_freed_after_pending_vulkan_work, 2)
{
    gr_side producer = _i ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA;
    gr_ring *ring = begin(2, producer, GR_RING_LOSSLESS);
    const gr_slot *slot;
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 1; i <= 2; i++) {
        must_acquire_write(ring, producer, &slot, 1);
        if (_i)
            submit_fill(&slot, 1, i, gate);
        else
            slot_fill(slot, i);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        must_acquire_read(ring, producer, &slot, 1);
        if (_i)
            copy_slot(slot, (size_t)i);
        else
            submit_read(&slot, 1, &hosts[i], gate);
        if (i == 1)
            assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    vulkan_gate_open_after(gate, 100);
    gr_resource *fresh = must_create(RING_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(fresh, sync.acquire, sync.release));
    assert_ok(gr_ring_resize(ring, &fresh, 1));
    gr_resource_free(fresh);
    ck_assert(!vulkan_gate_is_open(gate));
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    assert_slots(ring, 1, 0, 0, 0);
    must_acquire_write(ring, producer, &slot, 1);
    ck_assert_ptr_eq(slot->resource, fresh);
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    vulkan_finish();
    if (_i)
        for (int i = 1; i <= 2; i++)
            assert_copy((size_t)i, i);
    else
        for (int i = 1; i <= 2; i++)
            assert_bytes(hosts[i]->bytes, RING_SIZE, i);
    must_acquire_write(ring, producer, &slot, 1);
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    end(ring);
}
