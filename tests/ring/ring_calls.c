/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which slot is next in each mode and direction, which arguments the calls refuse, and that a
 * refused call changes nothing.
 */
#include "ring.h"
#include "tests/support/ring_age.h"
#include "tests/support/support_image.h"

GROUP("modes", add_ring_case)

TEST(every_frame_is_read_in_order, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(3, producer, GR_RING_LOSSLESS);
    int written = 0, read = 0;
    const gr_slot *slot;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 3; i++, written++)
            ck_assert_uint_eq(write_frame(ring, producer, written), (uint64_t)written + 1);
        assert_slots(ring, 0, 0, 3, 0);
        assert_fails(gr_ring_acquire_write(ring, ring_stream(producer, true), &slot, 1, 0),
                     GR_ERR_NOT_READY, 0, "ready: 3");
        for (int i = 0; i < 3; i++, read++)
            ck_assert_uint_eq(read_frame(ring, producer, read), (uint64_t)read + 1);
        assert_slots(ring, 3, 0, 0, 0);
        assert_fails(gr_ring_acquire_read(ring, ring_stream(producer, false), &slot, 1, 0),
                     GR_ERR_NOT_READY, 0, "slots: 3; free: 3");
    }
    assert_frames(ring, 30, 30, 0);
}

TEST(the_age_is_that_of_the_newest_frame, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, producer, GR_RING_NEWEST);
    const gr_slot *slot;
    ck_assert_uint_eq(gr_ring_get_info(ring)->newest_age_ns, 0);
    must_acquire_write(ring, producer, &slot, 1);
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    ck_assert_uint_eq(gr_ring_get_info(ring)->newest_age_ns, 0);
    const uint64_t before = monotonic_ns();
    write_frame(ring, producer, 1);
    const uint64_t after = monotonic_ns();
    assert_age(ring, before, after);
    read_frame(ring, producer, 1);
    must_acquire_write(ring, producer, &slot, 1);
    assert_age(ring, before, after);
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    write_frame(ring, producer, 2);
    assert_age(ring, after, monotonic_ns());
}

TEST(newest_only_producers_skip_a_frame_being_read, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, producer, GR_RING_NEWEST);
    const gr_slot *reading, *two[2];
    write_frame(ring, producer, 1);
    must_acquire_read(ring, producer, &reading, 1);
    write_frames(ring, producer, 2, 9);
    assert_slot(reading, 1);
    assert_fails(gr_ring_acquire_write(ring, ring_stream(producer, true), two, 2, 0),
                 GR_ERR_NOT_READY, 0, "being read: 1");
    assert_ok(gr_ring_give_back(ring, &reading, 1));
    ck_assert_uint_eq(read_frame(ring, producer, 9), 9);
    assert_frames(ring, 9, 2, 7);
}

GROUP("refused", add_ring_case)

static void assert_still_mine(gr_resource *resource)
{
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&resource, 1, NULL));
    gr_resource_free(resource);
    write_frame(ring, GR_SIDE_CUDA, 5);
    read_frame(ring, GR_SIDE_CUDA, 5);
}

TEST(unsuitable_resources_cannot_be_slots)
{
    gr_resource *two[2] = {ring_resource(RING_SIZE), NULL};
    assert_null_invalid(gr_ring_create(two, 0, NULL), "n is 0");
    assert_null_invalid(gr_ring_create(two, 1025, NULL), "at most 1024");
    assert_null_invalid(gr_ring_create(two, 2, NULL), "The resource is NULL");
    two[1] = two[0];
    assert_null_invalid(gr_ring_create(two, 2, NULL), "listed twice");
    two[1] = ring_resource(RING_SIZE + 4);
    assert_null_invalid(gr_ring_create(two, 2, NULL), "another size");
    gr_buffer *buffer = must_map(two[1]);
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_STATE, 0, "is mapped");
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(two[1], fx.stream));
    assert_null(gr_ring_create(two, 2, NULL), GR_ERR_STATE, 0, "closed");
    gr_resource_free(two[1]);
    assert_still_mine(two[0]);
}

/* A resize needs room for the old slots, too, because they end after the new ones are there. */
TEST(a_ring_has_at_most_1024_slots)
{
    enum { MOST = 1024 };
    static gr_resource *resources[MOST + 1];
    for (int i = 0; i <= MOST; i++)
        resources[i] = must_register(gl_buffer_filled(16, 1));
    assert_null_invalid(gr_ring_create(resources, MOST + 1, NULL), "at most 1024");
    gr_ring *ring = must_make(gr_ring_create(resources, MOST, NULL));
    assert_invalid(gr_ring_resize(ring, resources + MOST, 1), "pass at most 0");
    assert_slots(ring, MOST, 0, 0, 0);
    gr_ring_free(ring);
    free_resources(resources, MOST + 1);
}

/* The ring refuses the second resource of the pair, and both resources are unchanged. */
static void assert_unlike(gr_resource *first, gr_resource *second, const char *text)
{
    gr_resource *two[2] = {first, second};
    assert_null_invalid(gr_ring_create(two, 2, NULL), text);
    gr_resource_free(second);
}

TEST(resources_that_differ_from_the_first_are_refused)
{
    struct image image = image_make("RGBA8", "2D", 16, 16, 1);
    gr_resource *buffer = must_register(gl_buffer_filled(RING_SIZE, 1));
    gr_resource *picture = must_register_image(&image, 0);
    assert_unlike(buffer, must_register_image(&image, 0), "is an image and others are buffers");
    for (int i = 0; i < 3; i++) {
        struct image other = image_make("RGBA8", "2D", i == 0 ? 8 : 16, i == 1 ? 8 : 16, 1 + i / 2);
        assert_unlike(picture, must_register_image(&other, 0), "has another size");
    }
    CUcontext second = new_context(NULL);
    gr_resource *foreign = must_register(gl_buffer_filled(RING_SIZE, 1));
    CU(CtxSetCurrent(fx.context));
    assert_unlike(buffer, foreign, "belongs to another CUDA context");
    end_context(second);
    gr_egl *egl = must_make(gr_egl_create(NULL));
    foreign = must_register(gl_buffer_filled(RING_SIZE, 1));
    assert_unlike(buffer, foreign, "registered in another OpenGL context");
    gr_egl_free(egl);
    assert_ok(gr_egl_make_current(fx.egl));
    gr_resource_free(picture);
    assert_still_mine(buffer);
}

TEST(a_resource_cannot_be_in_two_rings)
{
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&resource, 1, NULL));
    assert_null(gr_ring_create(&resource, 1, NULL), GR_ERR_STATE, 0, "already in a ring");
    assert_fails(gr_ring_resize(ring, &resource, 1), GR_ERR_STATE, 0, "already in a ring");
    write_frame(ring, GR_SIDE_CUDA, 1);
    read_frame(ring, GR_SIDE_CUDA, 1);
}

/*
 * Catches: the error told the CUDA thread to make a context current, and did not mention the
 * transport that needs none.
 */
TEST(an_acquire_without_a_context_suggests_the_shared_transport, RING_TRANSPORTS)
{
    need_transport(_i);
    const gr_slot *slot;
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    assert_ok(gr_egl_make_current(NULL));
    if (_i == 1) { /* shared */
        must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
        assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    } else {
        assert_fails(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0), GR_ERR_GL, 0,
                     "gr_create_gl_buffer() or gr_create_gl_image() made with GR_TRANSPORT_SHARED");
    }
    assert_ok(gr_egl_make_current(fx.egl));
    write_frame(ring, GR_SIDE_CUDA, 1);
    read_frame(ring, GR_SIDE_CUDA, 1);
}

TEST(the_cuda_side_needs_a_stream_and_graphics_takes_none)
{
    const gr_slot *slot = NULL;
    GR_AUTO(gr_ring) *to_gl = must_make_ring_of(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    GR_AUTO(gr_ring) *to_cuda = must_make_ring_of(2, GR_SIDE_GRAPHICS, GR_RING_LOSSLESS);
    assert_invalid(gr_ring_acquire_write(to_gl, GR_STREAM_NONE, &slot, 1, 0),
                   "graphics API writes, set gr_ring_options.producer to GR_SIDE_GRAPHICS");
    assert_invalid(gr_ring_acquire_write(to_gl, GR_STREAM_OF_MAP, &slot, 1, 0), "GR_STREAM_OF_MAP");
    assert_invalid(gr_ring_acquire_read(to_gl, fx.stream, &slot, 1, 0),
                   "If CUDA reads, set gr_ring_options.producer to GR_SIDE_GRAPHICS");
    assert_invalid(gr_ring_acquire_write(to_cuda, fx.stream, &slot, 1, 0),
                   "If CUDA writes, set gr_ring_options.producer to GR_SIDE_CUDA");
    assert_invalid(gr_ring_acquire_read(to_cuda, GR_STREAM_NONE, &slot, 1, 0),
                   "graphics API reads, set gr_ring_options.producer to GR_SIDE_CUDA");
    ck_assert_ptr_null(slot);
    assert_slots(to_gl, 2, 0, 0, 0);
    assert_slots(to_cuda, 2, 0, 0, 0);
}

TEST(more_slots_than_the_ring_has_are_refused)
{
    const gr_slot *slots[3];
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    assert_invalid(gr_ring_acquire_write(ring, fx.stream, slots, 0, 0), "n is 0");
    assert_invalid(gr_ring_acquire_write(ring, fx.stream, slots, 3, 0),
                   "n is 3, but the ring has 2 slots");
    assert_invalid(gr_ring_acquire_read(ring, GR_STREAM_NONE, slots, 3, 0), "n is 3");
    assert_invalid(gr_ring_acquire_read(ring, GR_STREAM_NONE, slots, (size_t)-1, 0),
                   "the ring has 2 slots");
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 2);
    assert_invalid(gr_ring_hand_over(ring, slots, 0), "n is 0");
    assert_invalid(gr_ring_hand_over(ring, slots, 3), "larger than the number");
    assert_slots(ring, 0, 2, 0, 0);
    assert_ok(gr_ring_cancel_write(ring, slots, 2));
}

TEST(slots_in_a_wrong_state_or_of_another_ring_are_refused, 2)
{
    gr_side producer = (gr_side)_i;
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, producer, GR_RING_LOSSLESS);
    GR_AUTO(gr_ring) *other = must_make_ring_of(2, producer, GR_RING_LOSSLESS);
    const gr_slot *mine, *foreign, *null = NULL;
    must_acquire_write(ring, producer, &mine, 1);
    must_acquire_write(other, producer, &foreign, 1);
    gr_slot copied = *mine;
    const gr_slot *copy = &copied, *inside = (const gr_slot *)&mine->buffer;
    assert_invalid(gr_ring_hand_over(ring, &foreign, 1), "not a slot of this ring");
    assert_invalid(gr_ring_hand_over(ring, &null, 1), "not a slot of this ring");
    assert_invalid(gr_ring_hand_over(ring, &copy, 1), "not a slot of this ring");
    assert_invalid(gr_ring_hand_over(ring, &inside, 1), "not a slot of this ring");
    const gr_slot *wrong[2] = {mine, foreign}, *twice[2] = {mine, mine};
    assert_invalid(gr_ring_hand_over(ring, wrong, 2),
                   "Entry 1 of the list is not a slot of this ring");
    assert_invalid(gr_ring_hand_over(ring, twice, 2), "listed twice");
    assert_fails(gr_ring_give_back(ring, &mine, 1), GR_ERR_STATE, 0, "is not being read");
    assert_fails(gr_ring_cancel_read(ring, &mine, 1), GR_ERR_STATE, 0, "is not being read");
    assert_slots(ring, 1, 1, 0, 0);
    ck_assert(gr_resource_get_info(mine->resource)->mapped == (producer == GR_SIDE_CUDA));
    slot_fill(mine, 3);
    assert_ok(gr_ring_hand_over(ring, &mine, 1));
    assert_fails(gr_ring_hand_over(ring, &mine, 1), GR_ERR_STATE, 0, "is not being written");
    assert_fails(gr_ring_cancel_write(ring, &mine, 1), GR_ERR_STATE, 0, "is not being written");
    assert_fails(gr_ring_give_back(ring, &mine, 1), GR_ERR_STATE, 0, "is not being read");
    read_frame(ring, producer, 3);
    assert_ok(gr_ring_cancel_write(other, &foreign, 1));
}

GROUP("half-way", add_ring_case)

TEST(a_write_acquire_whose_map_fails_changes_nothing)
{
    GR_AUTO(gr_ring) *ring = must_make_ring_of(3, GR_SIDE_CUDA, GR_RING_NEWEST);
    const gr_slot *slots[3] = {NULL};
    write_frames(ring, GR_SIDE_CUDA, 1, 4);
    const gr_slot *reading;
    must_acquire_read(ring, GR_SIDE_CUDA, &reading, 1);
    write_frame(ring, GR_SIDE_CUDA, 5);
    assert_slots(ring, 1, 0, 1, 1);
    assert_frames(ring, 5, 0, 3);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_acquire_write(ring, fx.stream, slots, 2, 0), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_ptr_null(slots[0]);
    assert_slots(ring, 1, 0, 1, 1);
    assert_frames(ring, 5, 0, 3);
    assert_ok(gr_ring_give_back(ring, &reading, 1));
    ck_assert_uint_eq(read_frame(ring, GR_SIDE_CUDA, 5), 5);
}

TEST(a_read_acquire_whose_map_fails_loses_no_frame, 2)
{
    GR_AUTO(gr_ring) *ring =
        must_make_ring_of(3, GR_SIDE_GRAPHICS, _i ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    const gr_slot *slots[2];
    write_frames(ring, GR_SIDE_GRAPHICS, 1, 3);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_acquire_read(ring, fx.stream, slots, 2, 0), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_slots(ring, 0, 0, 3, 0);
    assert_frames(ring, 3, 0, 0);
    must_acquire_read(ring, GR_SIDE_GRAPHICS, slots, 2);
    ck_assert_uint_eq(slots[0]->frame, _i ? 2 : 1);
    assert_slot(slots[0], _i ? 2 : 1);
    assert_slot(slots[1], _i ? 3 : 2);
    assert_ok(gr_ring_give_back(ring, slots, 2));
}

TEST(a_hand_over_that_fails_can_be_repeated)
{
    GR_AUTO(gr_ring) *ring = must_make_ring_of(2, GR_SIDE_CUDA, GR_RING_LOSSLESS);
    const gr_slot *slots[2];
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 2);
    slot_fill(slots[0], 6);
    slot_fill(slots[1], 7);
    assert_ok(gr_egl_make_current(NULL));
    assert_fails(gr_ring_hand_over(ring, slots, 2), GR_ERR_GL, 0, "");
    assert_ok(gr_egl_make_current(fx.egl));
    assert_slots(ring, 0, 2, 0, 0);
    ck_assert_uint_ne(gr_buffer_ptr(slots[0]->buffer), 0);
    assert_ok(gr_ring_hand_over(ring, slots, 2));
    read_frame(ring, GR_SIDE_CUDA, 6);
    read_frame(ring, GR_SIDE_CUDA, 7);
}
