/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings between CUDA and Vulkan on one thread, which never waits: everything is put into the stream
 * and the queue while a gate holds one of them up, and has to come out in order when it opens.
 */
#define _GNU_SOURCE
#include "ring_vulkan.h"

#define SLOTS 4

static struct ring_sync sync;
static CUdeviceptr copies; /* of what CUDA reads */
static struct vulkan_host *hosts[SLOTS];

static gr_ring *begin(size_t n, gr_side producer, gr_ring_mode mode)
{
    sync = ring_sync_begin();
    for (int i = 0; i < SLOTS; i++)
        hosts[i] = vulkan_host(RING_SIZE);
    CU(MemAlloc(&copies, SLOTS * RING_SIZE));
    CU(MemsetD8Async(copies, 0xEE, SLOTS * RING_SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    return must_make_vulkan_ring(n, &sync, &(gr_ring_options){.producer = producer, .mode = mode});
}

/* When all work is done. */
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
                       gr_buffer_stream(slot->buffer)));
}

static void assert_copy(size_t of, int value)
{
    unsigned char bytes[RING_SIZE];
    CU(StreamSynchronize(fx.stream));
    CU(MemcpyDtoHAsync(bytes, copies + of * RING_SIZE, RING_SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    assert_bytes(bytes, RING_SIZE, value);
}

/* A frame of CUDA's, copied to the host and given back; the gate, if there is one, holds it up. */
static void vulkan_reads(gr_ring *ring, struct vulkan_host *const to[],
                         const struct vulkan_gate *gate)
{
    gr_slot slot;
    must_acquire_read(ring, GR_SIDE_CUDA, 1, &slot);
    submit_read(&slot, 1, to, gate);
    assert_ok(gr_ring_give_back(ring, 1, &slot));
}

/* ---- CUDA writes, Vulkan reads --------------------------------------------------------------- */

START_VULKAN_TEST(vulkan_reads_after_cuda_has_written)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    gr_slot slots[SLOTS], raw[SLOTS];
    struct gate *gate = gate_put(fx.stream);
    for (int i = 0; i < SLOTS; i++) {
        must_acquire_write(ring, GR_SIDE_CUDA, 1, &slots[i]);
        slot_fill(&slots[i], i + 1);
        assert_ok(gr_ring_publish(ring, 1, &slots[i]));
    }
    for (int i = 0; i < SLOTS; i++)
        must_acquire_read(ring, GR_SIDE_CUDA, 1, &slots[i]);
    /* Without the wait Vulkan reads too early. */
    raw[0] = slots[0];
    raw[0].submit = (gr_submit){0};
    submit_read(raw, 1, hosts, NULL);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 0);
    for (int i = 0; i < SLOTS; i++) {
        ck_assert_ptr_eq(slots[i].submit.wait, sync.release);
        submit_read(&slots[i], 1, &hosts[i], NULL);
        assert_ok(gr_ring_give_back(ring, 1, &slots[i]));
    }
    gate_open(gate);
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, i + 1);
    end(ring);
}
END_TEST

START_VULKAN_TEST(cuda_writes_again_after_vulkan_has_read)
{
    gr_ring *ring = begin(1, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    struct vulkan_gate *gate = vulkan_gate();
    write_frame(ring, GR_SIDE_CUDA, 1);
    vulkan_reads(ring, hosts, gate);
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
END_TEST

/* Dropped, or discarded: another stream writes the slot next. */
START_VULKAN_TEST(cuda_overwrites_what_nobody_read_in_order)
{
    gr_ring *ring = begin(1, GR_SIDE_CUDA, GR_RING_NEWEST);
    gr_slot slot;
    must_acquire_write(ring, GR_SIDE_CUDA, 1, &slot);
    struct gate *gate = gate_put(fx.stream);
    slot_fill(&slot, 1);
    assert_ok((_i ? gr_ring_cancel_write : gr_ring_publish)(ring, 1, &slot));
    assert_ok(gr_ring_acquire_write(ring, fx.other, 1, &slot));
    slot_fill(&slot, 2);
    assert_ok(gr_ring_publish(ring, 1, &slot));
    vulkan_reads(ring, hosts, NULL);
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.other));
    gate_open(gate);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 2);
    end(ring);
}
END_TEST

START_VULKAN_TEST(a_group_has_one_wait_and_one_signal)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    gr_slot slots[SLOTS];
    for (uint64_t round = 1; round < 6; round++) {
        int value = (int)round * SLOTS;
        must_acquire_write(ring, GR_SIDE_CUDA, SLOTS, slots);
        for (int i = 0; i < SLOTS; i++)
            slot_fill(&slots[i], value + i);
        assert_ok(gr_ring_publish(ring, SLOTS, slots));
        must_acquire_read(ring, GR_SIDE_CUDA, SLOTS, slots);
        for (int i = 0; i < SLOTS; i++) {
            ck_assert_uint_eq(slots[i].submit.wait_value, round);
            ck_assert_uint_eq(slots[i].submit.signal_value, round);
        }
        submit_read(slots, SLOTS, hosts, NULL);
        assert_ok(gr_ring_give_back(ring, SLOTS, slots));
        ck_assert_ptr_null(slots[0].submit.wait);
        vulkan_finish();
        for (int i = 0; i < SLOTS; i++)
            assert_bytes(hosts[i]->bytes, RING_SIZE, value + i);
    }
    end(ring);
}
END_TEST

static void give_back_in_turn(gr_ring *ring, gr_slot slots[], const struct vulkan_gate *gate)
{
    for (int i = 0; i < SLOTS; i++)
        write_frame(ring, GR_SIDE_CUDA, i + 1);
    for (int i = 0; i < SLOTS; i++) {
        must_acquire_read(ring, GR_SIDE_CUDA, 1, &slots[i]);
        submit_read(&slots[i], 1, &hosts[i], i == SLOTS - 1 ? gate : NULL);
        assert_ok(gr_ring_give_back(ring, 1, &slots[i]));
    }
}

/*
 * Slots become free by halves; what is written to the first of a half waits for the reading of its
 * last.
 */
START_VULKAN_TEST(cuda_waits_once_for_half_of_the_slots)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    gr_slot slots[SLOTS];
    struct vulkan_gate *gate = vulkan_gate();
    give_back_in_turn(ring, slots, gate);
    for (int i = 0; i < SLOTS / 2; i++)
        write_frame(ring, GR_SIDE_CUDA, 10 + i);
    CU(StreamSynchronize(fx.stream)); /* the first half has been read */
    write_frame(ring, GR_SIDE_CUDA, 12);
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, i + 1);
    for (int i = 0; i < 3; i++) {
        must_acquire_read(ring, GR_SIDE_CUDA, 1, slots);
        submit_read(slots, 1, &hosts[i], NULL);
        assert_ok(gr_ring_give_back(ring, 1, slots));
        vulkan_finish();
        assert_bytes(hosts[i]->bytes, RING_SIZE, 10 + i);
    }
    end(ring);
}
END_TEST

/* No thread has to be asked: who needs every slot gets every slot, after the same wait. */
START_VULKAN_TEST(a_producer_gets_what_vulkan_has_returned)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_CUDA, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    gr_slot all[SLOTS];
    struct vulkan_gate *gate = vulkan_gate();
    write_frame(ring, GR_SIDE_CUDA, 1);
    vulkan_reads(ring, hosts, gate);
    assert_slots(ring, SLOTS, 0, 0, 0);
    must_acquire_write(ring, GR_SIDE_CUDA, SLOTS, all);
    for (int i = 0; i < SLOTS; i++)
        slot_fill(&all[i], 2 + i);
    assert_ok(gr_ring_publish(ring, SLOTS, all));
    sleep_ms(20);
    CU_GIVES(CUDA_ERROR_NOT_READY, StreamQuery(fx.stream));
    vulkan_gate_open(gate);
    vulkan_finish();
    assert_bytes(hosts[0]->bytes, RING_SIZE, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, SLOTS, all);
    submit_read(all, SLOTS, hosts, NULL);
    assert_ok(gr_ring_give_back(ring, SLOTS, all));
    vulkan_finish();
    for (int i = 0; i < SLOTS; i++)
        assert_bytes(hosts[i]->bytes, RING_SIZE, 2 + i);
    end(ring);
}
END_TEST

/* ---- Vulkan writes, CUDA reads --------------------------------------------------------------- */

static void vulkan_writes(gr_ring *ring, int value)
{
    gr_slot slot;
    must_acquire_write(ring, GR_SIDE_GRAPHICS, 1, &slot);
    submit_fill(&slot, 1, value, NULL);
    assert_ok(gr_ring_publish(ring, 1, &slot));
}

START_VULKAN_TEST(cuda_reads_after_vulkan_has_written)
{
    gr_ring *ring = begin(SLOTS, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    gr_slot slots[SLOTS];
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 0; i < SLOTS; i++) {
        must_acquire_write(ring, GR_SIDE_GRAPHICS, 1, &slots[i]);
        submit_fill(&slots[i], 1, i + 1, gate);
        assert_ok(gr_ring_publish(ring, 1, &slots[i]));
    }
    for (int i = 0; i < SLOTS; i++)
        must_acquire_read(ring, GR_SIDE_GRAPHICS, 1, &slots[i]);
    /* Without the wait CUDA reads too early. */
    unsigned char bytes[RING_SIZE];
    CU(MemcpyDtoHAsync(bytes, gr_buffer_ptr(slots[0].buffer), RING_SIZE, fx.other));
    CU(StreamSynchronize(fx.other));
    assert_bytes(bytes, RING_SIZE, 0);
    for (int i = 0; i < SLOTS; i++) {
        copy_slot(&slots[i], (size_t)i);
        assert_ok(gr_ring_give_back(ring, 1, &slots[i]));
    }
    vulkan_gate_open(gate);
    for (int i = 0; i < SLOTS; i++)
        assert_copy((size_t)i, i + 1);
    end(ring);
}
END_TEST

START_VULKAN_TEST(vulkan_writes_again_after_cuda_has_read)
{
    gr_ring *ring = begin(1, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    gr_slot slot;
    vulkan_writes(ring, 1);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, 1, &slot);
    struct gate *gate = gate_put(fx.stream);
    copy_slot(&slot, 0);
    assert_ok(gr_ring_give_back(ring, 1, &slot));
    vulkan_writes(ring, 2);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, 1, &slot);
    copy_slot(&slot, 1);
    assert_ok(gr_ring_give_back(ring, 1, &slot));
    sleep_ms(20);
    gate_open(gate);
    assert_copy(0, 1);
    assert_copy(1, 2);
    end(ring);
}
END_TEST

/* The submit of a slot that is discarded may be left out. */
START_VULKAN_TEST(vulkan_drops_and_discards)
{
    gr_ring *ring = begin(2, GR_SIDE_GRAPHICS, GR_RING_NEWEST);
    gr_slot slots[2];
    for (int i = 1; i < 6; i++) {
        must_acquire_write(ring, GR_SIDE_GRAPHICS, 2, slots);
        submit_fill(slots, 1, i, NULL);
        assert_ok(gr_ring_publish(ring, 1, &slots[0]));
        assert_ok(gr_ring_cancel_write(ring, 1, &slots[1]));
    }
    must_acquire_write(ring, GR_SIDE_GRAPHICS, 1, slots);
    assert_ok(gr_ring_cancel_write(ring, 1, slots));
    must_acquire_read(ring, GR_SIDE_GRAPHICS, 1, slots);
    ck_assert_uint_eq(slots[0].frame, 5);
    copy_slot(slots, 0);
    assert_ok(gr_ring_give_back(ring, 1, slots));
    assert_copy(0, 5);
    assert_frames(ring, 5, 1, 4);
    end(ring);
}
END_TEST

/* ---- Slots that leave ------------------------------------------------------------------------ */

/*
 * Their buffers are Vulkan's: destroyed while a submit uses them, the validation layer would say
 * so.
 */
START_VULKAN_TEST(slots_that_leave_outlive_vulkans_submits)
{
    gr_side producer = _i ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA;
    gr_ring *ring = begin(2, producer, GR_RING_LOSSLESS);
    gr_slot slot;
    struct vulkan_gate *gate = vulkan_gate();
    for (int i = 1; i <= 2; i++) {
        must_acquire_write(ring, producer, 1, &slot);
        if (_i)
            submit_fill(&slot, 1, i, gate);
        else
            slot_fill(&slot, i);
        assert_ok(gr_ring_publish(ring, 1, &slot));
        must_acquire_read(ring, producer, 1, &slot);
        if (_i)
            copy_slot(&slot, (size_t)i);
        else
            submit_read(&slot, 1, &hosts[i], gate);
        if (i == 1)
            assert_ok(gr_ring_give_back(ring, 1, &slot));
    }
    vulkan_gate_open_after(gate, 100);
    gr_resource *fresh = must_create(RING_SIZE, GR_READ_WRITE);
    assert_ok(gr_resource_set_sync(fresh, sync.acquire, sync.release));
    assert_ok(gr_ring_resize(ring, &fresh, 1));
    ck_assert(!vulkan_gate_is_open(gate));
    assert_ok(gr_ring_give_back(ring, 1, &slot));
    assert_slots(ring, 1, 0, 0, 0);
    must_acquire_write(ring, producer, 1, &slot);
    ck_assert_ptr_eq(slot.resource, fresh);
    assert_ok(gr_ring_cancel_write(ring, 1, &slot));
    vulkan_finish();
    if (_i)
        for (int i = 1; i <= 2; i++)
            assert_copy((size_t)i, i);
    else
        for (int i = 1; i <= 2; i++)
            assert_bytes(hosts[i]->bytes, RING_SIZE, i);
    must_acquire_write(ring, producer, 1, &slot);
    assert_ok(gr_ring_cancel_write(ring, 1, &slot));
    end(ring);
}
END_TEST

/* ---- What is refused ------------------------------------------------------------------------- */

START_VULKAN_TEST(resources_need_the_same_two_semaphores)
{
    struct ring_sync one = ring_sync_begin(), two = ring_sync_begin();
    gr_resource *r[2] = {must_create(RING_SIZE, GR_READ_WRITE),
                         must_create(RING_SIZE, GR_READ_WRITE)};
    assert_null(gr_ring_create(r, 2, NULL), GR_ERR_INVALID_VALUE, 0, "lacks a semaphore");
    assert_ok(gr_resource_set_sync(r[0], one.acquire, one.release));
    assert_ok(gr_resource_set_sync(r[1], two.acquire, two.release));
    assert_null(gr_ring_create(r, 2, NULL), GR_ERR_INVALID_VALUE, 0, "has other semaphores");
    assert_ok(gr_resource_set_sync(r[1], one.acquire, NULL));
    assert_null(gr_ring_create(r, 2, NULL), GR_ERR_INVALID_VALUE, 0, "lacks a semaphore");
    gr_resource *mixed[2] = {r[0], must_register(gl_buffer_filled(RING_SIZE, 0))};
    assert_null(gr_ring_create(mixed, 2, NULL), GR_ERR_INVALID_VALUE, 0, "another transport");
    gr_resource_free(mixed[1]);
    gr_resource_free(r[0]);
    gr_resource_free(r[1]);
    ring_sync_end(&one);
    ring_sync_end(&two);
}
END_TEST

void build_ring_vulkan(Suite *suite)
{
    TCase *order = add_vulkan_case(suite, "Vulkan");
    add_tests(order, vulkan_reads_after_cuda_has_written, cuda_writes_again_after_vulkan_has_read);
    add_loop_tests(order, 2, cuda_overwrites_what_nobody_read_in_order);
    add_tests(order, a_group_has_one_wait_and_one_signal, cuda_waits_once_for_half_of_the_slots);
    add_loop_tests(order, 2, a_producer_gets_what_vulkan_has_returned);
    add_tests(order, cuda_reads_after_vulkan_has_written, vulkan_writes_again_after_cuda_has_read,
              vulkan_drops_and_discards);
    add_loop_tests(order, 2, slots_that_leave_outlive_vulkans_submits);
    add_tests(order, resources_need_the_same_two_semaphores);
}
