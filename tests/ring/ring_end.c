/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Replacing the slots of a ring in use, and freeing a ring with slots in every state. */
#define _GNU_SOURCE
#include "ring.h"

static const gr_side sides[] = {GR_SIDE_CUDA, GR_SIDE_GRAPHICS};

static void must_resize_to(gr_ring *ring, size_t n, size_t size)
{
    gr_resource *const *resources = ring_resources(n, size);
    assert_ok(gr_ring_resize(ring, resources, n));
    free_resources(resources, n);
}

static void must_resize(gr_ring *ring, size_t n)
{
    must_resize_to(ring, n, RING_SIZE);
}

static unsigned slots_of(gr_ring *ring)
{
    gr_ring_info now = *gr_ring_get_info(ring);
    return now.slots;
}

GROUP("resize", add_ring_case)

TEST(frames_before_a_resize_are_read_first, 2)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring_of(4, producer, GR_RING_LOSSLESS);
    const gr_slot *writing, *reading, *all[3];
    write_frames(ring, producer, 1, 3);
    must_acquire_read(ring, producer, &reading, 1);
    must_acquire_write(ring, producer, &writing, 1);
    void *handle = driver_handle(reading->resource);
    must_resize(ring, 2);
    ck_assert_uint_eq(slots_of(ring), 2);
    assert_slots(ring, 2, 1, 2, 1);
    assert_slot(reading, 1);
    assert_ok(gr_ring_give_back(ring, &reading, 1));
    assert_unregistered(handle);
    slot_fill(writing, 4);
    assert_ok(gr_ring_hand_over(ring, &writing, 1));
    write_frame(ring, producer, 5);
    must_acquire_read(ring, producer, all, 3);
    for (int i = 0; i < 3; i++)
        assert_slot(all[i], i + 2);
    assert_ok(gr_ring_give_back(ring, all, 3));
    assert_slots(ring, 1, 0, 1, 0);
    ck_assert_uint_eq(read_frame(ring, producer, 5), 5);
    assert_slots(ring, 2, 0, 0, 0);
    assert_frames(ring, 5, 5, 0);
}

TEST(a_resize_frees_the_free_slots)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    const gr_slot *slots[2];
    void *handles[2];
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 2);
    for (int i = 0; i < 2; i++)
        handles[i] = driver_handle(slots[i]->resource);
    assert_ok(gr_ring_cancel_write(ring, slots, 2));
    must_resize(ring, 8);
    for (int i = 0; i < 2; i++)
        assert_unregistered(handles[i]);
    const gr_slot *eight[8];
    must_acquire_write(ring, GR_SIDE_CUDA, eight, 8);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_uint_eq(eight[i]->index, i);
    assert_ok(gr_ring_cancel_write(ring, eight, 8));
}

TEST(a_resize_may_change_the_size_of_the_slots)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    const gr_slot *slot;
    write_frame(ring, GR_SIDE_CUDA, 1);
    must_resize_to(ring, 3, 4096);
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    ck_assert_uint_eq(gr_buffer_size(slot->buffer), 4096);
    cuda_fill(slot->buffer, 9);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    read_frame(ring, GR_SIDE_CUDA, 1);
    must_acquire_read(ring, GR_SIDE_CUDA, &slot, 1);
    assert_gl_bytes(ring_name(slot->resource), 4096, 9);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

TEST(a_write_cancelled_after_a_resize_frees_its_slot, 2)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring_of(1, producer, GR_RING_LOSSLESS);
    const gr_slot *slot;
    must_acquire_write(ring, producer, &slot, 1);
    void *handle = driver_handle(slot->resource);
    must_resize(ring, 1);
    const gr_slot *copy = slot;
    assert_ok(gr_ring_cancel_write(ring, &slot, 1));
    assert_unregistered(handle);
    assert_invalid(gr_ring_cancel_write(ring, &copy, 1), "not a slot of this ring");
    assert_slots(ring, 1, 0, 0, 0);
}

TEST(no_frame_is_lost_in_60_resizes, 2)
{
    gr_side producer = sides[_i];
    GR_AUTO(gr_ring) *ring = must_make_ring_of(3, producer, GR_RING_LOSSLESS);
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

TEST(a_resize_that_is_refused_changes_nothing)
{
    GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
    gr_resource *two[2] = {ring_resource(RING_SIZE), ring_resource(8)};
    write_frame(ring, GR_SIDE_CUDA, 1);
    assert_invalid(gr_ring_resize(ring, two, 0), "n is 0");
    assert_invalid(gr_ring_resize(ring, two, 2), "another size");
    assert_slots(ring, 1, 0, 1, 0);
    read_frame(ring, GR_SIDE_CUDA, 1);
    free_resources(two, 2);
}

GROUP("end", add_ring_case)

TEST(a_ring_with_slots_in_every_state_can_be_freed, 2)
{
    gr_side producer = sides[_i];
    gr_ring *ring = must_make_ring_of(5, producer, GR_RING_LOSSLESS);
    const gr_slot *reading, *writing[2];
    void *handles[4];
    write_frames(ring, producer, 1, 2);
    must_acquire_read(ring, producer, &reading, 1);
    must_acquire_write(ring, producer, writing, 2);
    handles[0] = driver_handle(reading->resource);
    handles[1] = driver_handle(writing[0]->resource);
    handles[2] = driver_handle(writing[1]->resource);
    slot_fill(writing[0], 3);
    GLuint name = ring_name(writing[0]->resource);
    gr_buffer *out[3] = {reading->buffer, writing[0]->buffer, writing[1]->buffer};
    gr_ring_free(ring);
    for (int i = 0; i < 3; i++)
        assert_unregistered(handles[i]);
    if (producer == GR_SIDE_CUDA)
        assert_gl_bytes(name, RING_SIZE, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(gr_buffer_ptr(out[i]), 0);
        ck_assert_uint_eq(gr_buffer_size(out[i]), 0);
    }
    assert_ok(gr_buffer_release_many(out, 3, GR_STREAM_OF_MAP, NULL));
}

TEST(a_ring_with_leaving_slots_can_be_freed, 2)
{
    gr_side producer = sides[_i];
    gr_ring *ring = must_make_ring_of(3, producer, GR_RING_LOSSLESS);
    const gr_slot *writing;
    write_frame(ring, producer, 1);
    must_acquire_write(ring, producer, &writing, 1);
    gr_buffer *buffer = writing->buffer;
    void *handle = driver_handle(writing->resource);
    must_resize(ring, 2);
    write_frame(ring, producer, 2);
    gr_ring_free(ring);
    assert_unregistered(handle);
    assert_ok(gr_buffer_release_many(&buffer, 1, GR_STREAM_OF_MAP, NULL));
}

/* The registrations are kept until their OpenGL context is current. */
TEST(a_ring_freed_without_its_opengl_context_unregisters_later)
{
    gr_ring *ring = must_make_ring(3, NULL);
    const gr_slot *slots[2];
    void *handles[2];
    must_acquire_write(ring, GR_SIDE_CUDA, slots, 2);
    for (int i = 0; i < 2; i++)
        handles[i] = driver_handle(slots[i]->resource);
    assert_ok(gr_ring_cancel_write(ring, &slots[1], 1));
    gr_buffer *buffer = slots[0]->buffer;
    assert_ok(gr_egl_make_current(NULL));
    gr_ring_free(ring);
    assert_ok(gr_egl_make_current(fx.egl));
    ck_assert_uint_ne(gr_buffer_ptr(buffer), 0);
    assert_ok(gr_buffer_release(buffer));
    gr_resource_free(must_register(gl_buffer_filled(RING_SIZE, 0)));
    for (int i = 0; i < 2; i++)
        assert_unregistered(handles[i]);
}

GROUP("holds", add_ring_case)

TEST(resources_of_a_ring_cannot_be_mapped_or_closed_directly, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&resource, 1, NULL));
    const gr_slot *slot;
    gr_buffer *buffer;
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "gr_ring_acquire_write()");
    assert_fails(gr_map_many(&resource, 1, fx.stream, NULL, &buffer), GR_ERR_STATE, 0,
                 "gr_ring_acquire_read()");
    assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_STATE, 0, "gr_ring_free()");
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    ck_assert_ptr_eq(slot->resource, resource);
    assert_fails(gr_buffer_release(slot->buffer), GR_ERR_STATE, 0, "gr_ring_hand_over()");
    assert_fails(gr_resource_unmap(resource, GR_STREAM_OF_MAP), GR_ERR_STATE, 0, "a ring");
    assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_STATE, 0, "a ring");
    slot_fill(slot, 7);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    read_frame(ring, GR_SIDE_CUDA, 7);
}

TEST(releasing_many_buffers_skips_a_slot_of_a_ring, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    GR_AUTO(gr_resource) *other = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&resource, 1, NULL));
    const gr_slot *slot;
    must_acquire_write(ring, GR_SIDE_CUDA, &slot, 1);
    gr_buffer *buffers[] = {must_map(other), slot->buffer};
    assert_fails(gr_buffer_release_many(buffers, 2, fx.stream, NULL), GR_ERR_PARTIAL, 0,
                 "gr_ring_hand_over()");
    ck_assert(!gr_resource_get_info(other)->mapped);
    slot_fill(slot, 7);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    read_frame(ring, GR_SIDE_CUDA, 7);
}

/*
 * Declares the ring and the resource in either order: GR_AUTO() frees the one that is declared
 * later first.
 */
TEST(a_ring_and_its_resources_can_be_freed_in_any_order, RING_TRANSPORTS)
{
    need_transport(_i);
    {
        GR_AUTO(gr_ring) *ring = NULL;
        GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
        ring = must_make(gr_ring_create(&resource, 1, NULL));
        write_frame(ring, GR_SIDE_CUDA, 1);
    }
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&resource, 1, NULL));
    write_frame(ring, GR_SIDE_CUDA, 2);
}

/* No call can return the slot, so the message names the one that ends the mapping. */
TEST(freeing_a_ring_ends_the_mapping_of_a_destroyed_stream, 2 * RING_TRANSPORTS)
{
    const bool writes = _i % 2;
    const gr_slot *slot;
    CUstream stream;
    need_transport(_i / 2);
    if (!gr_cuda_is_software())
        skip("a GPU's driver dereferences the handle of a destroyed stream");
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    gr_ring *ring = must_make(gr_ring_create(
        &resource, 1,
        &GR_INIT(gr_ring_options, .producer = writes ? GR_SIDE_CUDA : GR_SIDE_GRAPHICS)));
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    if (!writes)
        write_frame(ring, GR_SIDE_GRAPHICS, 1);
    assert_ok((writes ? gr_ring_acquire_write : gr_ring_acquire_read)(ring, stream, &slot, 1, 0));
    CU(StreamDestroy(stream));
    assert_fails((writes ? gr_ring_hand_over : gr_ring_give_back)(ring, &slot, 1), GR_ERR_CUDA,
                 CUDA_ERROR_INVALID_HANDLE, "free the ring, which ends the mapping");
    assert_fails((writes ? gr_ring_cancel_write : gr_ring_cancel_read)(ring, &slot, 1), GR_ERR_CUDA,
                 CUDA_ERROR_INVALID_HANDLE, "free the ring, which ends the mapping");
    ck_assert(gr_resource_get_info(resource)->mapped);
    gr_ring_free(ring);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_ok(gr_buffer_release(must_map(resource)));
}

/* OpenGL sees the bytes that CUDA wrote last, as after gr_buffer_release(). */
TEST(a_resource_of_a_freed_ring_can_be_mapped_by_gr_map, 2 * RING_TRANSPORTS)
{
    need_transport(_i / 2);
    gr_ring_options options =
        GR_INIT(gr_ring_options, .producer = _i % 2 ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA);
    GR_AUTO(gr_resource) *resource = ring_resource(RING_SIZE);
    for (int value = 1; value < 4; value++) {
        gr_ring *ring = must_make(gr_ring_create(&resource, 1, &options));
        const gr_slot *slot;
        must_acquire_write(ring, options.producer, &slot, 1);
        struct gate *gate = gate_put(fx.stream);
        slot_fill(slot, value);
        gate_open_after(gate, 60);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        gr_ring_free(ring);
        assert_gl_bytes(ring_name(resource), RING_SIZE, value);
        gr_buffer *buffer = must_map(resource);
        assert_cuda_bytes(buffer, value);
        fill_and_release(buffer, 100 + value);
        assert_gl_bytes(ring_name(resource), RING_SIZE, 100 + value);
    }
}

TEST(a_resource_that_a_resize_removed_can_be_mapped_by_gr_map, RING_TRANSPORTS)
{
    need_transport(_i);
    GR_AUTO(gr_resource) *first = ring_resource(RING_SIZE);
    GR_AUTO(gr_resource) *second = ring_resource(RING_SIZE);
    GR_AUTO(gr_ring) *ring = must_make(gr_ring_create(&first, 1, NULL));
    write_frame(ring, GR_SIDE_CUDA, 3);
    assert_ok(gr_ring_resize(ring, &second, 1));
    assert_null(gr_map(first, fx.stream), GR_ERR_STATE, 0, "a ring");
    read_frame(ring, GR_SIDE_CUDA, 3);
    assert_ok(gr_buffer_release(must_map(first)));
    assert_gl_bytes(ring_name(first), RING_SIZE, 3);
    assert_ok(gr_ring_resize(ring, &first, 1));
    assert_ok(gr_buffer_release(must_map(second)));
}
