/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which slot is next in each mode and direction, what the calls refuse, and that a refusal changes
 * nothing.
 */
#define _GNU_SOURCE
#include "ring.h"

#include <string.h>
#include <time.h>

static const gr_side sides[] = {GR_SIDE_CUDA, GR_SIDE_GRAPHICS};

static gr_ring *make(size_t n, gr_side producer, gr_ring_mode mode)
{
    return must_make_ring(n, &(gr_ring_options){.producer = producer, .mode = mode});
}

/* ---- Modes ----------------------------------------------------------------------------------- */

START_TEST(every_frame_is_read_in_order)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(3, producer, GR_RING_LOSSLESS);
    int written = 0, read = 0;
    gr_slot slot;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 3; i++, written++)
            ck_assert_uint_eq(write_frame(ring, producer, written), (uint64_t)written + 1);
        assert_slots(ring, 0, 0, 3, 0);
        assert_fails(gr_ring_acquire_write(ring, ring_stream(producer, true), 1, &slot),
                     GR_ERR_TIMEOUT, 0, "3 are published");
        for (int i = 0; i < 3; i++, read++)
            ck_assert_uint_eq(read_frame(ring, producer, read), (uint64_t)read + 1);
        assert_slots(ring, 3, 0, 0, 0);
        assert_fails(gr_ring_acquire_read(ring, ring_stream(producer, false), 1, &slot),
                     GR_ERR_TIMEOUT, 0, "3 of the ring's 3 slots are free");
    }
    assert_frames(ring, 30, 30, 0);
}
END_TEST

START_TEST(the_newest_frame_is_read)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(3, producer, GR_RING_NEWEST);
    write_frames(ring, producer, 1, 10);
    assert_slots(ring, 0, 0, 3, 0);
    assert_frames(ring, 10, 0, 7);
    ck_assert_uint_eq(read_frame(ring, producer, 10), 10);
    assert_slots(ring, 3, 0, 0, 0);
    assert_frames(ring, 10, 1, 9);
    write_frame(ring, producer, 11);
    ck_assert_uint_eq(read_frame(ring, producer, 11), 11);
    assert_frames(ring, 11, 2, 9);
}
END_TEST

START_TEST(the_producer_of_the_newest_goes_round_a_frame_that_is_read)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(2, producer, GR_RING_NEWEST);
    gr_slot reading, two[2];
    write_frame(ring, producer, 1);
    must_acquire_read(ring, producer, 1, &reading);
    write_frames(ring, producer, 2, 9);
    assert_slot(&reading, 1);
    assert_fails(gr_ring_acquire_write(ring, ring_stream(producer, true), 2, two), GR_ERR_TIMEOUT,
                 0, "1 are being read");
    assert_ok(gr_ring_give_back(ring, 1, &reading));
    ck_assert_uint_eq(read_frame(ring, producer, 9), 9);
    assert_frames(ring, 9, 2, 7);
}
END_TEST

START_TEST(groups_keep_the_order)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(8, producer, GR_RING_LOSSLESS);
    gr_slot out[4], in[4];
    for (int value = 0; value < 80; value += 4) {
        must_acquire_write(ring, producer, 4, out);
        for (int i = 0; i < 4; i++) {
            ck_assert_uint_eq(out[i].frame, (uint64_t)(value + i + 1));
            slot_fill(&out[i], value + i);
        }
        assert_ok(gr_ring_publish(ring, 4, out));
        must_acquire_read(ring, producer, 4, in);
        for (int i = 0; i < 4; i++) {
            ck_assert_uint_eq(in[i].frame, (uint64_t)(value + i + 1));
            ck_assert_uint_eq(in[i].index, out[i].index);
            assert_slot(&in[i], value + i);
        }
        assert_ok(gr_ring_give_back(ring, 4, in));
    }
    assert_frames(ring, 80, 80, 0);
}
END_TEST

/* Frames are numbered as they are published, whatever slots they are in. */
START_TEST(slots_are_published_and_given_back_in_any_order)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(4, producer, GR_RING_LOSSLESS);
    gr_slot out[4], in[4], again;
    must_acquire_write(ring, producer, 4, out);
    for (int i = 0; i < 4; i++)
        slot_fill(&out[i], 10 + i);
    for (int i = 3; i >= 0; i--) {
        assert_ok(gr_ring_publish(ring, 1, &out[i]));
        ck_assert_uint_eq(out[i].frame, (uint64_t)(4 - i));
    }
    must_acquire_read(ring, producer, 4, in);
    for (int i = 0; i < 4; i++)
        assert_slot(&in[i], 13 - i);
    gr_slot swapped[2] = {in[3], in[1]};
    assert_ok(gr_ring_give_back(ring, 2, swapped));
    assert_slots(ring, 2, 0, 0, 2);
    must_acquire_write(ring, producer, 1, &again);
    ck_assert_uint_eq(again.index, in[3].index);
    assert_ok(gr_ring_cancel_write(ring, 1, &again));
    assert_ok(gr_ring_give_back(ring, 1, &in[0]));
    assert_ok(gr_ring_give_back(ring, 1, &in[2]));
    assert_frames(ring, 4, 4, 0);
}
END_TEST

START_TEST(discarded_slots_hold_no_frame)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(2, producer, GR_RING_LOSSLESS);
    gr_slot slots[2];
    must_acquire_write(ring, producer, 2, slots);
    slot_fill(&slots[0], 1);
    slot_fill(&slots[1], 2);
    assert_ok(gr_ring_cancel_write(ring, 1, &slots[0]));
    ck_assert_ptr_null(slots[0].buffer);
    assert_ok(gr_ring_publish(ring, 1, &slots[1]));
    ck_assert_uint_eq(slots[1].frame, 1);
    assert_slots(ring, 1, 0, 1, 0);
    ck_assert_uint_eq(read_frame(ring, producer, 2), 1);
    assert_frames(ring, 1, 1, 0);
}
END_TEST

/* ---- What is refused ------------------------------------------------------------------------- */

static void assert_still_mine(gr_resource *resource)
{
    GR_AUTO(gr_ring) *ring = gr_ring_create(&resource, 1, NULL);
    assert_made(ring);
    write_frame(ring, GR_SIDE_CUDA, 5);
    read_frame(ring, GR_SIDE_CUDA, 5);
}

START_TEST(resources_that_cannot_be_slots_are_refused)
{
    gr_resource *two[2] = {ring_resource(RING_SIZE), NULL};
    assert_null(gr_ring_create(NULL, 1, NULL), GR_ERR_INVALID_VALUE, 0, "`resources` is NULL");
    assert_null(gr_ring_create(two, 0, NULL), GR_ERR_INVALID_VALUE, 0, "n is 0");
    assert_null(gr_ring_create(two, (size_t)1 << 40, NULL), GR_ERR_INVALID_VALUE, 0, "too large");
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_INVALID_VALUE, 0, "The resource is NULL");
    two[1] = two[0];
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_INVALID_VALUE, 0, "listed twice");
    two[1] = ring_resource(RING_SIZE + 4);
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_INVALID_VALUE, 0, "another size");
    gr_buffer *buffer = must_map(two[1]);
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_STATE, 0, "is mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(two[1], fx.stream));
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_STATE, 0, "closed");
    gr_resource_free(two[1]);
    assert_still_mine(two[0]);
}
END_TEST

START_TEST(a_resource_is_in_one_ring_only)
{
    gr_resource *resource = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = gr_ring_create(&resource, 1, NULL);
    assert_made(ring);
    assert_null(gr_ring_create(&resource, 1, NULL), GR_ERR_STATE, 0, "a ring's already");
    assert_fails(gr_ring_resize(ring, &resource, 1), GR_ERR_STATE, 0, "a ring's already");
    write_frame(ring, GR_SIDE_CUDA, 1);
    read_frame(ring, GR_SIDE_CUDA, 1);
}
END_TEST

START_TEST(options_that_mean_nothing_are_refused)
{
    gr_resource *resource = ring_resource(RING_SIZE);
    gr_ring_options side = {.producer = (gr_side)2}, mode = {.mode = (gr_ring_mode)7};
    assert_null(gr_ring_create(&resource, 1, &side), GR_ERR_INVALID_VALUE, 0, "`producer` is 2");
    assert_null(gr_ring_create(&resource, 1, &mode), GR_ERR_INVALID_VALUE, 0, "`mode` is 7");
    assert_still_mine(resource);
}
END_TEST

START_TEST(the_resources_context_has_to_be_current)
{
    gr_resource *resource = ring_resource(RING_SIZE);
    assert_ok(gr_egl_make_current(NULL));
    assert_null(gr_ring_create(&resource, 1, NULL), GR_ERR_GL, 0, "No OpenGL context is current");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_still_mine(resource);
}
END_TEST

START_TEST(nothing_is_done_with_null)
{
    gr_slot slot;
    gr_ring_info counts;
    memset(&counts, 1, sizeof(counts));
    gr_resource *resource = ring_resource(RING_SIZE);
    assert_fails(gr_ring_acquire_write(NULL, fx.stream, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "The ring is NULL");
    assert_fails(gr_ring_acquire_read(NULL, NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0, "is NULL");
    assert_fails(gr_ring_publish(NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0, "The ring is NULL");
    assert_fails(gr_ring_cancel_write(NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0, "The ring is NULL");
    assert_fails(gr_ring_give_back(NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0, "The ring is NULL");
    assert_fails(gr_ring_resize(NULL, &resource, 1), GR_ERR_INVALID_VALUE, 0, "The ring is NULL");
    gr_ring_get_info(NULL, &counts);
    ck_assert_uint_eq(counts.slots, 0);
    gr_ring_stop(NULL);
    gr_ring_free(NULL);
    GR_AUTO(gr_ring) *ring = gr_ring_create(&resource, 1, NULL);
    assert_made(ring);
    gr_ring_get_info(ring, NULL);
    assert_fails(gr_ring_acquire_write(ring, fx.stream, 1, NULL), GR_ERR_INVALID_VALUE, 0,
                 "`slots` is NULL");
    assert_fails(gr_ring_publish(ring, 1, NULL), GR_ERR_INVALID_VALUE, 0, "`slots` is NULL");
}
END_TEST

START_TEST(streams_are_for_the_side_that_is_cuda)
{
    gr_slot slot = {.index = 77};
    GR_AUTO(gr_ring) *to_gl = make(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    GR_AUTO(gr_ring) *to_cuda = make(2, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    assert_fails(gr_ring_acquire_write(to_gl, NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "in this ring CUDA writes. Name it: CU_STREAM_LEGACY");
    assert_fails(gr_ring_acquire_write(to_gl, GR_STREAM_OF_MAP, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "GR_STREAM_OF_MAP");
    assert_fails(gr_ring_acquire_read(to_gl, fx.stream, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "the graphics API reads: pass NULL");
    assert_fails(gr_ring_acquire_write(to_cuda, fx.stream, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "the graphics API writes: pass NULL");
    assert_fails(gr_ring_acquire_read(to_cuda, NULL, 1, &slot), GR_ERR_INVALID_VALUE, 0,
                 "in this ring CUDA reads");
    ck_assert_uint_eq(slot.index, 77);
    assert_slots(to_gl, 2, 0, 0, 0);
    assert_slots(to_cuda, 2, 0, 0, 0);
}
END_TEST

START_TEST(numbers_that_the_ring_does_not_have_are_refused)
{
    gr_slot slots[3];
    GR_AUTO(gr_ring) *ring = make(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_fails(gr_ring_acquire_write(ring, fx.stream, 0, slots), GR_ERR_INVALID_VALUE, 0,
                 "n is 0");
    assert_fails(gr_ring_acquire_write(ring, fx.stream, 3, slots), GR_ERR_INVALID_VALUE, 0,
                 "n is 3, but the ring has 2 slots");
    assert_fails(gr_ring_acquire_read(ring, NULL, 3, slots), GR_ERR_INVALID_VALUE, 0, "n is 3");
    assert_fails(gr_ring_acquire_read(ring, NULL, (size_t)-1, slots), GR_ERR_INVALID_VALUE, 0,
                 "the ring has 2 slots");
    must_acquire_write(ring, GR_SIDE_CUDA, 2, slots);
    assert_fails(gr_ring_publish(ring, 0, slots), GR_ERR_INVALID_VALUE, 0, "n is 0");
    assert_fails(gr_ring_publish(ring, 3, slots), GR_ERR_INVALID_VALUE, 0, "more than there are");
    assert_slots(ring, 0, 2, 0, 0);
    assert_ok(gr_ring_cancel_write(ring, 2, slots));
}
END_TEST

START_TEST(slots_that_are_not_the_sides_are_refused)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = make(2, producer, GR_RING_LOSSLESS);
    GR_AUTO(gr_ring) *other = make(2, producer, GR_RING_LOSSLESS);
    gr_slot mine, foreign, zero = {0};
    must_acquire_write(ring, producer, 1, &mine);
    must_acquire_write(other, producer, 1, &foreign);
    assert_fails(gr_ring_publish(ring, 1, &foreign), GR_ERR_INVALID_VALUE, 0, "not of this ring");
    assert_fails(gr_ring_publish(ring, 1, &zero), GR_ERR_INVALID_VALUE, 0, "not of this ring");
    gr_slot wrong[2] = {mine, foreign}, twice[2] = {mine, mine};
    assert_fails(gr_ring_publish(ring, 2, wrong), GR_ERR_INVALID_VALUE, 0,
                 "Slot 1 of the list is not of this ring");
    assert_fails(gr_ring_publish(ring, 2, twice), GR_ERR_INVALID_VALUE, 0, "listed twice");
    assert_fails(gr_ring_give_back(ring, 1, &mine), GR_ERR_STATE, 0, "not one that is being read");
    assert_slots(ring, 1, 1, 0, 0);
    ck_assert(gr_resource_is_mapped(mine.resource) == (producer == GR_SIDE_CUDA));
    slot_fill(&mine, 3);
    gr_slot copy = mine;
    assert_ok(gr_ring_publish(ring, 1, &mine));
    assert_fails(gr_ring_publish(ring, 1, &copy), GR_ERR_STATE, 0, "not one that is being written");
    assert_fails(gr_ring_cancel_write(ring, 1, &copy), GR_ERR_STATE, 0,
                 "not one that is being written");
    assert_fails(gr_ring_give_back(ring, 1, &mine), GR_ERR_STATE, 0, "not one that is being read");
    read_frame(ring, producer, 3);
    write_frame(ring, producer, 4);
    gr_slot newer;
    must_acquire_write(ring, producer, 1, &newer);
    ck_assert_ptr_eq(newer.resource, copy.resource);
    assert_fails(gr_ring_publish(ring, 1, &copy), GR_ERR_STATE, 0, "of an earlier acquire");
    assert_ok(gr_ring_cancel_write(ring, 1, &newer));
    assert_ok(gr_ring_cancel_write(other, 1, &foreign));
}
END_TEST

/* ---- What fails half-way --------------------------------------------------------------------- */

START_TEST(a_map_that_fails_leaves_the_ring_as_it_was)
{
    GR_AUTO(gr_ring) *ring = make(3, GR_SIDE_CUDA, GR_RING_NEWEST);
    gr_slot slots[3] = {{.index = 9}};
    write_frames(ring, GR_SIDE_CUDA, 1, 4);
    gr_slot reading;
    must_acquire_read(ring, GR_SIDE_CUDA, 1, &reading);
    write_frame(ring, GR_SIDE_CUDA, 5);
    assert_slots(ring, 1, 0, 1, 1);
    assert_frames(ring, 5, 0, 3);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_acquire_write(ring, fx.stream, 2, slots), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_uint_eq(slots[0].index, 9);
    assert_slots(ring, 1, 0, 1, 1);
    assert_frames(ring, 5, 0, 3);
    assert_ok(gr_ring_give_back(ring, 1, &reading));
    ck_assert_uint_eq(read_frame(ring, GR_SIDE_CUDA, 5), 5);
}
END_TEST

START_TEST(frames_stay_where_a_map_to_read_fails)
{
    GR_AUTO(gr_ring) *ring = make(3, GR_SIDE_GRAPHICS, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    gr_slot slots[2];
    write_frames(ring, GR_SIDE_GRAPHICS, 1, 3);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_acquire_read(ring, fx.stream, 2, slots), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_slots(ring, 0, 0, 3, 0);
    assert_frames(ring, 3, 0, 0);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, 2, slots);
    ck_assert_uint_eq(slots[0].frame, _i ? 2 : 1);
    assert_slot(&slots[0], _i ? 2 : 1);
    assert_slot(&slots[1], _i ? 3 : 2);
    assert_ok(gr_ring_give_back(ring, 2, slots));
}
END_TEST

START_TEST(slots_stay_where_a_release_fails)
{
    GR_AUTO(gr_ring) *ring = make(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    gr_slot slots[2];
    must_acquire_write(ring, GR_SIDE_CUDA, 2, slots);
    slot_fill(&slots[0], 6);
    slot_fill(&slots[1], 7);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_publish(ring, 2, slots), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_slots(ring, 0, 2, 0, 0);
    ck_assert_uint_ne(gr_buffer_ptr(slots[0].buffer), 0);
    assert_ok(gr_ring_publish(ring, 2, slots));
    read_frame(ring, GR_SIDE_CUDA, 6);
    read_frame(ring, GR_SIDE_CUDA, 7);
}
END_TEST

/* ---- Waiting --------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

START_TEST(an_acquire_waits_as_long_as_the_options_say)
{
    gr_slot slot;
    GR_AUTO(gr_ring) *ring = must_make_ring(1, &(gr_ring_options){.wait_ms = 60});
    double start = seconds();
    assert_fails(gr_ring_acquire_read(ring, NULL, 1, &slot), GR_ERR_TIMEOUT, 0, "1 frames to read");
    ck_assert_double_ge(seconds() - start, 0.059);
    must_acquire_write(ring, GR_SIDE_CUDA, 1, &slot);
    start = seconds();
    assert_fails(gr_ring_acquire_write(ring, fx.stream, 1, &(gr_slot){0}), GR_ERR_TIMEOUT, 0,
                 "1 are being written");
    ck_assert_double_ge(seconds() - start, 0.059);
    assert_ok(gr_ring_cancel_write(ring, 1, &slot));
}
END_TEST

START_TEST(a_stopped_ring_can_be_read_to_its_end)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring =
        must_make_ring(3, &(gr_ring_options){.producer = producer, .wait_ms = ~0u});
    gr_slot slots[2];
    write_frame(ring, producer, 1);
    must_acquire_write(ring, producer, 1, slots);
    slot_fill(&slots[0], 2);
    gr_ring_stop(ring);
    assert_fails(gr_ring_acquire_write(ring, ring_stream(producer, true), 1, &slots[1]),
                 GR_ERR_STATE, 0, "has been stopped");
    assert_fails(gr_ring_acquire_read(ring, ring_stream(producer, false), 2, slots + 1),
                 GR_ERR_STATE, 0, "1 published frames are left");
    assert_ok(gr_ring_publish(ring, 1, slots));
    ck_assert_uint_eq(read_frame(ring, producer, 1), 1);
    ck_assert_uint_eq(read_frame(ring, producer, 2), 2);
    assert_fails(gr_ring_acquire_read(ring, ring_stream(producer, false), 1, slots), GR_ERR_STATE,
                 0, "0 published frames are left");
}
END_TEST

void build_ring_calls(Suite *suite)
{
    add_loop_tests(
        add_ring_case(suite, "modes"), 2, every_frame_is_read_in_order, the_newest_frame_is_read,
        the_producer_of_the_newest_goes_round_a_frame_that_is_read, groups_keep_the_order,
        slots_are_published_and_given_back_in_any_order, discarded_slots_hold_no_frame);

    TCase *refused = add_ring_case(suite, "refused");
    add_tests(refused, resources_that_cannot_be_slots_are_refused, a_resource_is_in_one_ring_only,
              options_that_mean_nothing_are_refused, the_resources_context_has_to_be_current,
              nothing_is_done_with_null, streams_are_for_the_side_that_is_cuda,
              numbers_that_the_ring_does_not_have_are_refused);
    add_loop_tests(refused, 2, slots_that_are_not_the_sides_are_refused);

    TCase *half = add_ring_case(suite, "half-way");
    add_tests(half, a_map_that_fails_leaves_the_ring_as_it_was);
    add_loop_tests(half, 2, frames_stay_where_a_map_to_read_fails);
    add_tests(half, slots_stay_where_a_release_fails);

    TCase *waiting = add_ring_case(suite, "waiting");
    add_tests(waiting, an_acquire_waits_as_long_as_the_options_say);
    add_loop_tests(waiting, 2, a_stopped_ring_can_be_read_to_its_end);
}
