/* SPDX-License-Identifier: Apache-2.0 */
/* Other slots in mid-flight, and the end of a ring with slots in every state. */
#define _GNU_SOURCE
#include "ring.h"

static const gr_side sides[] = {GR_SIDE_CUDA, GR_SIDE_GRAPHICS};

static void must_resize(gr_ring *ring, size_t n)
{
    assert_ok(gr_ring_resize(ring, ring_resources(n, RING_SIZE), n));
}

static unsigned slots_of(gr_ring *ring)
{
    gr_ring_info now;
    gr_ring_get_info(ring, &now);
    return now.slots;
}

START_TEST(what_was_published_before_a_resize_is_read_first)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring(4, &(gr_ring_options){.producer = producer});
    gr_slot writing, reading, all[3];
    write_frames(ring, producer, 1, 3);
    must_acquire_read(ring, producer, 1, &reading);
    must_acquire_write(ring, producer, 1, &writing);
    void *handle = gr_handle(reading.resource);
    must_resize(ring, 2);
    ck_assert_uint_eq(slots_of(ring), 2);
    assert_slots(ring, 2, 1, 2, 1);
    assert_slot(&reading, 1);
    assert_ok(gr_ring_give_back(ring, 1, &reading));
    assert_unregistered(handle);
    slot_fill(&writing, 4);
    assert_ok(gr_ring_publish(ring, 1, &writing));
    write_frame(ring, producer, 5);
    must_acquire_read(ring, producer, 3, all);
    for (int i = 0; i < 3; i++)
        assert_slot(&all[i], i + 2);
    assert_ok(gr_ring_give_back(ring, 3, all));
    assert_slots(ring, 1, 0, 1, 0);
    ck_assert_uint_eq(read_frame(ring, producer, 5), 5);
    assert_slots(ring, 2, 0, 0, 0);
    assert_frames(ring, 5, 5, 0);
}
END_TEST

START_TEST(free_slots_end_at_a_resize)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    gr_slot slots[2];
    void *handles[2];
    must_acquire_write(ring, GR_SIDE_CUDA, 2, slots);
    for (int i = 0; i < 2; i++)
        handles[i] = gr_handle(slots[i].resource);
    assert_ok(gr_ring_cancel_write(ring, 2, slots));
    must_resize(ring, 8);
    for (int i = 0; i < 2; i++)
        assert_unregistered(handles[i]);
    gr_slot eight[8];
    must_acquire_write(ring, GR_SIDE_CUDA, 8, eight);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_uint_eq(eight[i].index, i);
    assert_ok(gr_ring_cancel_write(ring, 8, eight));
}
END_TEST

START_TEST(slots_take_another_size)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    gr_slot slot;
    write_frame(ring, GR_SIDE_CUDA, 1);
    assert_ok(gr_ring_resize(ring, ring_resources(3, 4096), 3));
    must_acquire_write(ring, GR_SIDE_CUDA, 1, &slot);
    ck_assert_uint_eq(gr_buffer_size(slot.buffer), 4096);
    cuda_fill(slot.buffer, 9);
    assert_ok(gr_ring_publish(ring, 1, &slot));
    read_frame(ring, GR_SIDE_CUDA, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, 1, &slot);
    assert_gl_bytes(ring_name(slot.resource), 4096, 9);
    assert_ok(gr_ring_give_back(ring, 1, &slot));
}
END_TEST

START_TEST(a_discarded_slot_that_leaves_ends)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring(1, &(gr_ring_options){.producer = producer});
    gr_slot slot;
    must_acquire_write(ring, producer, 1, &slot);
    void *handle = gr_handle(slot.resource);
    must_resize(ring, 1);
    gr_slot copy = slot;
    assert_ok(gr_ring_cancel_write(ring, 1, &slot));
    assert_unregistered(handle);
    assert_fails(gr_ring_cancel_write(ring, 1, &copy), GR_ERR_INVALID_VALUE, 0, "not of this ring");
    assert_slots(ring, 1, 0, 0, 0);
}
END_TEST

/* The newer frame wins over those in the slots that leave. */
START_TEST(old_slots_are_dropped_for_a_newer_frame)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring =
        must_make_ring(2, &(gr_ring_options){.producer = producer, .mode = GR_RING_NEWEST});
    write_frame(ring, producer, 1);
    write_frame(ring, producer, 2);
    must_resize(ring, 1);
    assert_slots(ring, 1, 0, 2, 0);
    write_frame(ring, producer, 3);
    assert_slots(ring, 0, 0, 3, 0);
    write_frame(ring, producer, 4);
    assert_slots(ring, 0, 0, 1, 0);
    ck_assert_uint_eq(read_frame(ring, producer, 4), 4);
    assert_frames(ring, 4, 1, 3);
}
END_TEST

START_TEST(resizes_follow_each_other)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring(3, &(gr_ring_options){.producer = producer});
    for (int i = 1; i <= 60; i++) {
        write_frame(ring, producer, i);
        must_resize(ring, 1 + (size_t)i % 5);
        if (i % 3 == 0)
            for (int k = i - 2; k <= i; k++)
                ck_assert_uint_eq(read_frame(ring, producer, k), (uint64_t)k);
    }
    assert_frames(ring, 60, 60, 0);
    ck_assert_uint_eq(slots_of(ring), 1);
    assert_slots(ring, 1, 0, 0, 0);
}
END_TEST

START_TEST(a_resize_that_is_refused_changes_nothing)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    gr_resource *two[2] = {ring_resource(RING_SIZE), ring_resource(8)};
    write_frame(ring, GR_SIDE_CUDA, 1);
    assert_fails(gr_ring_resize(ring, NULL, 1), GR_ERR_INVALID_VALUE, 0, "is NULL");
    assert_fails(gr_ring_resize(ring, two, 0), GR_ERR_INVALID_VALUE, 0, "n is 0");
    assert_fails(gr_ring_resize(ring, two, 2), GR_ERR_INVALID_VALUE, 0, "another size");
    assert_slots(ring, 1, 0, 1, 0);
    read_frame(ring, GR_SIDE_CUDA, 1);
    gr_resource_free(two[0]);
    gr_resource_free(two[1]);
}
END_TEST

/* ---- The end --------------------------------------------------------------------------------- */

START_TEST(a_ring_ends_with_slots_in_every_state)
{
    gr_side producer = sides[_i];
    gr_ring *ring = must_make_ring(5, &(gr_ring_options){.producer = producer});
    gr_slot reading, writing[2];
    void *handles[4];
    write_frames(ring, producer, 1, 2);
    must_acquire_read(ring, producer, 1, &reading);
    must_acquire_write(ring, producer, 2, writing);
    handles[0] = gr_handle(reading.resource);
    handles[1] = gr_handle(writing[0].resource);
    handles[2] = gr_handle(writing[1].resource);
    slot_fill(&writing[0], 3);
    GLuint name = ring_name(writing[0].resource);
    gr_ring_free(ring);
    for (int i = 0; i < 3; i++)
        assert_unregistered(handles[i]);
    if (producer == GR_SIDE_CUDA)
        assert_gl_bytes(name, RING_SIZE, 3);
    gr_buffer *out[3] = {reading.buffer, writing[0].buffer, writing[1].buffer};
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(gr_buffer_ptr(out[i]), 0);
        ck_assert_uint_eq(gr_buffer_size(out[i]), 0);
    }
    assert_ok(gr_buffer_release_many(out, 3, GR_STREAM_OF_MAP));
}
END_TEST

START_TEST(a_ring_ends_with_slots_that_leave)
{
    gr_side producer = sides[_i];
    gr_ring *ring = must_make_ring(3, &(gr_ring_options){.producer = producer});
    gr_slot writing;
    write_frame(ring, producer, 1);
    must_acquire_write(ring, producer, 1, &writing);
    void *handle = gr_handle(writing.resource);
    must_resize(ring, 2);
    write_frame(ring, producer, 2);
    gr_ring_free(ring);
    assert_unregistered(handle);
    assert_ok(gr_buffer_release_many(&writing.buffer, 1, GR_STREAM_OF_MAP));
}
END_TEST

/* The registrations are set aside until their context is current. */
START_TEST(a_ring_is_freed_without_its_context)
{
    gr_ring *ring = must_make_ring(3, NULL);
    gr_slot slots[2];
    void *handles[2];
    must_acquire_write(ring, GR_SIDE_CUDA, 2, slots);
    for (int i = 0; i < 2; i++)
        handles[i] = gr_handle(slots[i].resource);
    assert_ok(gr_ring_cancel_write(ring, 1, &slots[1]));
    assert_ok(gr_egl_make_current(NULL));
    gr_ring_free(ring);
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_uint_ne(gr_buffer_ptr(slots[0].buffer), 0);
    assert_ok(gr_buffer_release(slots[0].buffer));
    gr_resource_free(must_register(gl_buffer_filled(RING_SIZE, 0)));
    for (int i = 0; i < 2; i++)
        assert_unregistered(handles[i]);
}
END_TEST

void build_ring_end(Suite *suite)
{
    TCase *resize = add_ring_case(suite, "resize");
    add_loop_tests(resize, 2, what_was_published_before_a_resize_is_read_first);
    add_tests(resize, free_slots_end_at_a_resize, slots_take_another_size);
    add_loop_tests(resize, 2, a_discarded_slot_that_leaves_ends,
                   old_slots_are_dropped_for_a_newer_frame, resizes_follow_each_other);
    add_tests(resize, a_resize_that_is_refused_changes_nothing);

    TCase *end = add_ring_case(suite, "end");
    add_loop_tests(end, 2, a_ring_ends_with_slots_in_every_state,
                   a_ring_ends_with_slots_that_leave);
    add_tests(end, a_ring_is_freed_without_its_context);
}
