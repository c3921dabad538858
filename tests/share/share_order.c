/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Both ends of a shared ring in this process: which frames are read, in which order, and what a
 * cancel does.
 */
#define _GNU_SOURCE
#include "share_ring.h"
#include "tests/support/ring_age.h"
#include "tests/support/support_vulkan_image.h"

#include "lib/resource/resource_types.h"

#define SLOTS SLOTS_OF_TWO

GROUP("both sides here", add_vulkan_case)

VULKAN_TEST(frames_are_read_in_order_in_both_directions)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    for (unsigned i = 1; i <= 4 * SLOTS; i++) {
        assert_ok(cuda_writes(two.received));
        ck_assert_uint_eq(vulkan_reads(&two.sent), i);
    }
    gr_ring_info counts = *gr_ring_get_info(two.sent.ring);
    ck_assert_uint_eq(counts.read, 4 * SLOTS);
    ck_assert_uint_eq(counts.slots, SLOTS);
    two_end(&two);
}

VULKAN_TEST(a_ring_of_newest_frames_drops_older_unread_frames)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_NEWEST);
    for (int i = 0; i < 2 * SLOTS; i++)
        assert_ok(cuda_writes(two.received));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 2 * SLOTS);
    for (int i = 0; i < 2; i++)
        assert_ok(cuda_writes(two.received));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 2 * SLOTS + 2);
    for (int i = 0; i < SLOTS + 1; i++)
        assert_ok(cuda_writes(two.received));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 3 * SLOTS + 3);
    two_end(&two);
}

/* ---- Counts: gr_ring_get_info() itself reads what the peer did --------------------------------
 */

static void assert_counts(gr_ring *ring, uint64_t written, uint64_t read, uint64_t dropped)
{
    const gr_ring_info *now = gr_ring_get_info(ring);
    ck_assert_uint_eq(now->written, written);
    ck_assert_uint_eq(now->read, read);
    ck_assert_uint_eq(now->dropped, dropped);
    ck_assert_uint_eq(now->written, now->read + now->dropped + now->ready + now->reading);
}

static void assert_counts_of_both(const struct two *two, uint64_t written, uint64_t read,
                                  uint64_t dropped)
{
    assert_counts(two->sent.ring, written, read, dropped);
    assert_counts(two->received, written, read, dropped);
}

/*
 * The receiver takes the ring when two frames are in it. Catches: it counted them as read, and so
 * dropped the older one.
 */
VULKAN_TEST(frames_from_before_the_receive_are_read)
{
    const gr_slot *slots[2];
    struct pair pair = pair_make();
    struct two two = {.sent = send_ring(&pair, GR_SIDE_GRAPHICS, GR_RING_NEWEST)};
    for (int i = 0; i < 2; i++)
        assert_ok(vulkan_writes(two.sent.ring));
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    assert_counts_of_both(&two, 2, 0, 0);
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, slots, 2, SOON));
    assert_ok(gr_ring_give_back(two.received, slots, 2));
    assert_counts_of_both(&two, 2, 2, 0);
    two_end(&two);
}

/* Catches: the consumer counted only the frames that it dropped itself. */
VULKAN_TEST(both_ends_count_the_frames_that_either_drops, 2)
{
    const bool cuda_produces = _i == 0;
    struct two two = two_begin(cuda_produces ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS, GR_RING_NEWEST);
    for (unsigned i = 1; i <= SLOTS + 2; i++) {
        assert_ok(cuda_produces ? cuda_writes(two.received) : vulkan_writes(two.sent.ring));
        assert_counts_of_both(&two, i, 0, i > SLOTS ? i - SLOTS : 0);
    }
    ck_assert_uint_eq(cuda_produces ? vulkan_reads(&two.sent) : cuda_reads(two.received),
                      SLOTS + 2);
    assert_counts_of_both(&two, SLOTS + 2, 1, SLOTS + 1);
    two_end(&two);
}

VULKAN_TEST(frames_from_before_the_send_are_counted)
{
    struct pair pair = pair_make();
    struct two two = {.sent = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_NEWEST)};
    for (int i = 0; i < 2; i++)
        assert_ok(cuda_writes(two.sent.ring));
    ck_assert_uint_eq(vulkan_reads(&two.sent), 2);
    assert_ok(gr_ring_send(pair.here, two.sent.ring, GR_RING_CONSUMER, NULL, 0, SOON));
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    assert_counts_of_both(&two, 2, 1, 1);
    assert_ok(cuda_writes(two.received));
    assert_counts_of_both(&two, 3, 1, 1);
    two_end(&two);
}

/* Either process sends the ring, and frames are written before the send and after it. */
VULKAN_TEST(both_ends_know_the_age_of_the_newest_frame, 2)
{
    const gr_side producer = _i == 0 ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS;
    struct pair pair = pair_make();
    struct two two = {.sent = shared_ring_begin(SLOTS, producer, GR_RING_NEWEST)};
    const uint64_t before = monotonic_ns();
    assert_ok(_i == 0 ? cuda_writes(two.sent.ring) : vulkan_writes(two.sent.ring));
    const uint64_t after = monotonic_ns();
    ck_assert_uint_eq(_i == 0 ? vulkan_reads(&two.sent) : cuda_reads(two.sent.ring), 1);
    assert_ok(gr_ring_send(pair.here, two.sent.ring, _i == 0 ? GR_RING_CONSUMER : GR_RING_PRODUCER,
                           NULL, 0, SOON));
    two.received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    assert_age(two.sent.ring, before, after);
    assert_age(two.received, before, after);
    assert_ok(_i == 0 ? cuda_writes(two.received) : vulkan_writes(two.sent.ring));
    assert_age(two.sent.ring, after, monotonic_ns());
    assert_age(two.received, after, monotonic_ns());
    two_end(&two);
}

VULKAN_TEST(groups_and_cancelled_writes_keep_the_order)
{
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slots[SLOTS];
    for (int round = 0; round < 3; round++) {
        assert_ok(gr_ring_acquire_write(two.received, fx.stream, slots, SLOTS, SOON));
        for (int i = 1; i < SLOTS; i++)
            CU(MemsetD8Async(gr_buffer_ptr(slots[i]->buffer),
                             (unsigned char)value_of_frame((unsigned)(2 * round + i)), SLOT_SIZE,
                             fx.stream));
        assert_ok(gr_ring_cancel_write(two.received, slots, 1));
        assert_ok(gr_ring_hand_over(two.received, slots + 1, SLOTS - 1));
        for (int i = 1; i < SLOTS; i++)
            ck_assert_uint_eq(vulkan_reads(&two.sent), (unsigned)(2 * round + i));
    }
    two_end(&two);
}

/* ---- Who has a slot: CUDA in the other process counts like CUDA here ------------------------- */

VULKAN_TEST(vulkan_takes_back_the_first_frame_of_the_peer)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_ok(cuda_writes(two.received));
    assert_ok(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &slot, 1, SOON));
    assert_fails(gr_vk_submit(slot->submit, &GR_INIT(gr_vk_submit_desc)), GR_ERR_STATE, 0,
                 "`first`");
    assert_ok(gr_ring_cancel_read(two.sent.ring, &slot, 1));
    two_end(&two);
}

/*
 * Catches: images that Vulkan had not handed over counted as those of CUDA: the peer wrote them,
 * and the first submit took them from CUDA.
 */
VULKAN_IMAGE_TEST(new_images_are_sent_only_if_vulkan_writes_them_first)
{
    const VkImageCreateInfo info =
        vulkan_image_info(vulkan_format(VK_FORMAT_R8G8B8A8_UNORM), vulkan_shape("2D"), 16, 16, 1,
                          VK_IMAGE_USAGE_SAMPLED_BIT);
    const gr_vk_use use = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                  .layout = VK_IMAGE_LAYOUT_GENERAL);
    const gr_vk_use fresh = GR_INIT(gr_vk_use, .stages = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    struct pair pair = pair_make();
    const gr_slot *slot;
    gr_resource *image = must_make(gr_create_vk_image(vk.wrap, &info, GR_READ_WRITE));
    GR_AUTO(gr_ring) *ring = must_make(
        gr_ring_create(&image, 1, &GR_INIT(gr_ring_options, .producer = GR_SIDE_GRAPHICS)));
    gr_resource_free(image);
    assert_fails(gr_ring_send(pair.here, ring, GR_RING_CONSUMER, NULL, 0, SOON), GR_ERR_STATE, 0,
                 "gr_vk_hand_over()");
    assert_ok(gr_ring_send(pair.here, ring, GR_RING_PRODUCER, NULL, 0, SOON));
    gr_ring *received = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    for (int i = 0; i < 2; i++) {
        gr_vk_submit_desc desc = GR_INIT(gr_vk_submit_desc, .last = i ? &use : &fresh);
        assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, &slot, 1, SOON));
        if (i) { /* the peer has read the image */
            assert_fails(gr_vk_submit(slot->submit, &desc), GR_ERR_STATE, 0, "`first`");
            desc.first = &use;
        }
        assert_ok(gr_vk_submit(slot->submit, &desc));
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        assert_ok(gr_ring_acquire_read(received, fx.stream, &slot, 1, SOON));
        assert_ok(gr_ring_give_back(received, &slot, 1));
    }
    CU(StreamSynchronize(fx.stream));
    gr_ring_free(received);
    VK(QueueWaitIdle(vk.h->graphics));
}

/* ---- Order: each case fails without the wait ------------------------------------------------- */

static void cuda_begins_write(gr_ring *ring, const gr_slot **slot)
{
    assert_ok(gr_ring_acquire_write(ring, fx.stream, slot, 1, SOON));
    CU(MemsetD8Async(gr_buffer_ptr((*slot)->buffer), (unsigned char)value_of_frame((*slot)->frame),
                     SLOT_SIZE, fx.stream));
    assert_ok(gr_ring_hand_over(ring, slot, 1));
}

static void vulkan_begins_write(gr_ring *ring, const gr_slot **slot, const struct vulkan_gate *gate)
{
    assert_ok(gr_ring_acquire_write(ring, GR_STREAM_NONE, slot, 1, SOON));
    VkCommandBuffer commands = vulkan_begin();
    vulkan_cmd_fill(commands, gr_vk_buffer((*slot)->resource), SLOT_SIZE,
                    value_of_frame((*slot)->frame));
    vulkan_submit_slot(commands, *slot, gate);
    assert_ok(gr_ring_hand_over(ring, slot, 1));
}

/* Checks that CUDA waits for the gate, and opens the gate. */
static void open_while_cuda_waits(struct vulkan_gate *gate)
{
    sleep_ms(50);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
}

VULKAN_TEST(vulkan_reads_after_a_pending_write_of_the_peer)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct gate *gate = gate_put(fx.stream);
    cuda_begins_write(two.received, &slot);
    vulkan_begins_read(&two.sent, &slot, NULL);
    sleep_ms(50);
    gate_open(gate);
    vulkan_finish();
    assert_bytes(two.sent.host->bytes, SLOT_SIZE, value_of_frame(1));
    two_end(&two);
}

/* The only free slot is one that Vulkan is still reading. */
VULKAN_TEST(the_peer_writes_after_a_pending_vulkan_read)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 0; i < SLOTS; i++)
        cuda_begins_write(two.received, &slot);
    vulkan_begins_read(&two.sent, &slot, gate);
    cuda_begins_write(two.received, &slot);
    ck_assert_uint_eq(slot->frame, SLOTS + 1);
    open_while_cuda_waits(gate);
    vulkan_finish();
    assert_bytes(two.sent.host->bytes, SLOT_SIZE, value_of_frame(1));
    CU(StreamSynchronize(fx.stream));
    two_end(&two);
}

VULKAN_TEST(the_peer_reads_after_a_pending_vulkan_write)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    struct vulkan_gate *gate = vulkan_gate();
    vulkan_begins_write(two.sent.ring, &slot, gate);
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON));
    open_while_cuda_waits(gate);
    const char *difference = cuda_bytes_differ(slot->buffer, value_of_frame(1));
    ck_assert_msg(!difference, "%s", difference);
    assert_ok(gr_ring_give_back(two.received, &slot, 1));
    two_end(&two);
}

/* The peer gives the frame back, or cancels the read, and Vulkan writes the slot again. */
VULKAN_TEST(vulkan_writes_after_a_pending_read_of_the_peer, 2)
{
    const gr_slot *slot;
    static unsigned char bytes[SLOT_SIZE];
    const int before = _i ? 1 : SLOTS; /* only a cancelled frame is dropped by later ones */
    CUdeviceptr copy = 0;
    CU(MemAlloc(&copy, SLOT_SIZE));
    struct two two = two_begin(GR_SIDE_GRAPHICS, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    for (int i = 0; i < before; i++)
        vulkan_begins_write(two.sent.ring, &slot, NULL);
    vulkan_finish();
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON));
    struct gate *gate = gate_put(fx.stream);
    CU(MemcpyDtoDAsync(copy, gr_buffer_ptr(slot->buffer), SLOT_SIZE, fx.stream));
    assert_ok((_i ? gr_ring_cancel_read : gr_ring_give_back)(two.received, &slot, 1));
    for (int i = before; i <= SLOTS; i++)
        vulkan_begins_write(two.sent.ring, &slot, NULL);
    ck_assert_uint_eq(slot->frame, SLOTS + 1);
    sleep_ms(50);
    gate_open(gate);
    cuda_read(bytes, copy, SLOT_SIZE, fx.stream);
    assert_bytes(bytes, SLOT_SIZE, value_of_frame(1));
    CU(MemFree(copy));
    vulkan_finish();
    two_end(&two);
}

/*
 * The slot cannot be mapped, since the test marks its resource as mapped. The acquire must leave
 * the slot unchanged.
 */
VULKAN_TEST(an_acquire_whose_map_fails_changes_nothing, 2)
{
    const gr_slot *slot;
    struct two two = two_begin(GR_SIDE_GRAPHICS, _i == 0 ? GR_RING_LOSSLESS : GR_RING_NEWEST);
    vulkan_begins_write(two.sent.ring, &slot, NULL);
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON));
    gr_resource *resource = slot->resource;
    assert_ok(gr_ring_give_back(two.received, &slot, 1));
    for (int i = 0; i < SLOTS; i++) /* the last frame is in that slot again */
        vulkan_begins_write(two.sent.ring, &slot, NULL);
    for (uint64_t frame = 2; _i == 0 && frame <= SLOTS; frame++)
        ck_assert_uint_eq(cuda_reads(two.received), frame);
    resource->mapped = resource->first;
    assert_fails(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON), GR_ERR_STATE, 0,
                 "mapped");
    resource->mapped = NULL;
    ck_assert_uint_eq(cuda_reads(two.received), SLOTS + 1);
    two_end(&two);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

/*
 * The producer looks for a free slot while the frame is being read and after the read has been
 * cancelled.
 */
VULKAN_TEST(a_frame_whose_cuda_read_was_cancelled_can_be_read, 2)
{
    const gr_slot *slot, *other;
    gr_ring_mode mode = _i ? GR_RING_NEWEST : GR_RING_LOSSLESS;
    struct two two = two_begin(GR_SIDE_GRAPHICS, mode);
    assert_ok(vulkan_writes(two.sent.ring));
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_acquire_write(two.sent.ring, GR_STREAM_NONE, &other, 1, SOON));
    assert_ok(gr_ring_cancel_write(two.sent.ring, &other, 1));
    assert_ok(gr_ring_cancel_read(two.received, &slot, 1));
    ck_assert_uint_eq(cuda_reads(two.received), 1);
    assert_ok(vulkan_writes(two.sent.ring));
    assert_ok(gr_ring_acquire_read(two.received, fx.stream, &slot, 1, SOON));
    assert_ok(gr_ring_cancel_read(two.received, &slot, 1));
    for (int i = 1; i < SLOTS; i++)
        assert_ok(vulkan_writes(two.sent.ring));
    if (mode == GR_RING_NEWEST) /* overwrites the cancelled frame */
        assert_ok(vulkan_writes(two.sent.ring));
    ck_assert_uint_eq(cuda_reads(two.received), mode == GR_RING_NEWEST ? SLOTS + 2 : 2);
    two_end(&two);
}

/* The work of a cancelled read is never submitted. Neither process waits for it. */
VULKAN_TEST(a_frame_whose_vulkan_read_was_cancelled_can_be_read, 2)
{
    const gr_slot *slot;
    gr_ring_mode mode = _i ? GR_RING_NEWEST : GR_RING_LOSSLESS;
    struct two two = two_begin(GR_SIDE_CUDA, mode);
    for (int i = 0; i < SLOTS; i++)
        assert_ok(cuda_writes(two.received));
    assert_ok(gr_ring_acquire_read(two.sent.ring, GR_STREAM_NONE, &slot, 1, SOON));
    assert_ok(gr_ring_cancel_read(two.sent.ring, &slot, 1));
    for (int i = 0; _i && i < SLOTS; i++)
        assert_ok(cuda_writes(two.received));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(vulkan_reads(&two.sent), _i ? 2 * SLOTS : 1);
    assert_ok(cuda_writes(two.received));
    CU(StreamSynchronize(fx.stream));
    two_end(&two);
}

/*
 * This process keeps CUDA's side, and uses the slot alone after the ring. The second variant has
 * semaphores of the application.
 */
VULKAN_TEST(a_slot_gets_its_semaphores_back, 2)
{
    struct pair pair = pair_make();
    GR_AUTO(gr_resource) *resource = must_create(SLOT_SIZE, GR_READ_WRITE);
    struct vulkan_host *host = vulkan_host(SLOT_SIZE);
    if (_i == 1) {
        gr_semaphore *acquire, *release;
        acquire = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
        release = must_make(gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE));
        assert_ok(gr_resource_set_sync(resource, acquire, release));
        gr_semaphore_free(acquire);
        gr_semaphore_free(release);
    }
    gr_ring *here = must_make(gr_ring_create(&resource, 1, NULL));
    assert_ok(gr_ring_send(pair.here, here, GR_RING_PRODUCER, NULL, 0, SOON));
    gr_ring *there = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    for (uint64_t frame = 1; frame <= 3; frame++) {
        assert_ok(cuda_writes(here));
        ck_assert_uint_eq(cuda_reads(there), frame);
    }
    gr_ring_free(there);
    gr_ring_free(here);
    for (int value = 1; value <= 2; value++) {
        gr_buffer *buffer = must_map(resource);
        gate_open_after(gate_put(fx.stream), 60);
        CU(MemsetD8Async(gr_buffer_ptr(buffer), (unsigned char)value, SLOT_SIZE, fx.stream));
        assert_ok(gr_buffer_release(buffer));
        gr_submit *submit = vulkan_begin_submit(&resource, 1);
        VkCommandBuffer commands = vulkan_begin();
        uint64_t now;
        VK(GetSemaphoreCounterValue(vk.h->device, gr_vk_semaphore(signal_of(submit)), &now));
        ck_assert_uint_gt(signal_value_of(submit), now);
        vulkan_cmd_read(commands, gr_vk_buffer(resource), host);
        vulkan_submit_begun(commands, submit, NULL);
        vulkan_finish();
        assert_bytes(host->bytes, SLOT_SIZE, value);
    }
}

/*
 * The program has freed its handles of the semaphores, and `lone` uses them outside of the ring.
 *
 * Catches: the peer signalled the values that this process gave to the submits of `lone`.
 */
VULKAN_TEST(a_ring_does_not_share_the_semaphores_of_other_resources)
{
    struct pair pair = pair_make();
    struct shared_ring r = shared_ring_begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    GR_AUTO(gr_resource) *lone = must_create(SLOT_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(lone, r.acquire, r.release));
    gr_semaphore_free(r.acquire);
    gr_semaphore_free(r.release);
    r.acquire = r.release = NULL;
    assert_ok(gr_ring_send(pair.here, r.ring, GR_RING_PRODUCER, NULL, 0, SOON));
    gr_ring *there = must_make(gr_ring_receive(pair.there, NULL, 0, NULL, SOON));
    assert_ok(cuda_writes(r.ring));
    ck_assert_uint_eq(cuda_reads(there), 1);
    gr_submit *submit = vulkan_begin_submit(&lone, 1);
    uint64_t now;
    VK(GetSemaphoreCounterValue(vk.h->device, gr_vk_semaphore(signal_of(submit)), &now));
    ck_assert_uint_lt(now, signal_value_of(submit));
    vulkan_submit_begun(vulkan_begin(), submit, NULL);
    gr_buffer *buffer = must_map(lone);
    must_release(buffer);
    gr_ring_free(there);
    shared_ring_end(&r);
}
