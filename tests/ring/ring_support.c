/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings of OpenGL buffers for the parts of test_ring; see ring.h. */
#include "ring.h"

#include <stdlib.h>

/* A timeout in milliseconds, longer than any wait in these tests. */
#define SOON 20000

/* ---- Transports ------------------------------------------------------------------------------ */

static gr_transport transport = GR_TRANSPORT_INTEROP;

const char *ring_use_transport(int index)
{
    static const gr_transport order[RING_TRANSPORTS] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_SHARED,
                                                        GR_TRANSPORT_COPY};
    const gr_transport_info *info = must_make(gr_gl_probe(order[index]));
    if (!info->usable)
        return info->reason;
    transport = order[index];
    return NULL;
}

static void use_interop(void)
{
    transport = GR_TRANSPORT_INTEROP;
}

/*
 * A closed resource is freed after its streams have finished, by the next call that creates a
 * resource. This function makes that call.
 */
static void end_leftovers(void)
{
    gates_open(); /* for a case that failed before it opened its gates */
    CU(CtxSynchronize());
    if (transport != GR_TRANSPORT_INTEROP)
        gr_resource_free(ring_resource(RING_SIZE));
}

static void use_transports(void)
{
    for (int i = 0; i < RING_TRANSPORTS; i++)
        if (!ring_use_transport(i)) {
            GR_AUTO(gr_ring) *ring = must_make_ring(2, NULL);
            write_frame(ring, GR_SIDE_CUDA, i);
            read_frame(ring, GR_SIDE_CUDA, i);
        }
    end_leftovers();
}

TCase *add_ring_case(Suite *suite, const char *name)
{
    TCase *made = with_first_use(add_case(suite, name), use_transports);
    return with_fixture(made, use_interop, end_leftovers);
}

gr_resource *ring_resource(size_t size)
{
    if (transport == GR_TRANSPORT_INTEROP)
        return must_register(gl_buffer_filled(size, 0));
    unsigned char *zeros = calloc(1, size);
    ck_assert_ptr_nonnull(zeros);
    gr_resource *made = must_make(
        gr_create_gl_buffer(size, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = transport)));
    gl_write(gr_gl_name(made), zeros, size);
    free(zeros);
    return made;
}

GLuint ring_name(const gr_resource *resource)
{
    return gr_gl_name(resource);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

gr_resource *const *ring_resources(size_t n, size_t size)
{
    static gr_resource *made[RING_SLOTS];
    ck_assert_uint_le(n, RING_SLOTS);
    for (size_t i = 0; i < n; i++)
        made[i] = ring_resource(size);
    return made;
}

gr_ring *must_make_ring(size_t n, const gr_ring_options *options)
{
    gr_resource *const *resources = ring_resources(n, RING_SIZE);
    gr_ring *ring = must_make(gr_ring_create(resources, n, options));
    free_resources(resources, n);
    return ring;
}

gr_ring *must_make_ring_of(size_t n, gr_side producer, gr_ring_mode mode)
{
    return must_make_ring(n, &GR_INIT(gr_ring_options, .producer = producer, .mode = mode));
}

CUstream ring_stream(gr_side producer, bool writing)
{
    return (producer == GR_SIDE_CUDA) == writing ? fx.stream : GR_STREAM_NONE;
}

void must_acquire_write(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n)
{
    assert_ok(gr_ring_acquire_write(ring, ring_stream(producer, true), slots, n, SOON));
}

void must_acquire_read(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n)
{
    assert_ok(gr_ring_acquire_read(ring, ring_stream(producer, false), slots, n, SOON));
}

void slot_fill(const gr_slot *slot, int value)
{
    unsigned char bytes[RING_SIZE];
    if (slot->buffer) {
        ck_assert_uint_eq(gr_buffer_size(slot->buffer), RING_SIZE);
        cuda_fill(slot->buffer, value);
        return;
    }
    for (size_t i = 0; i < RING_SIZE; i++)
        bytes[i] = (unsigned char)value;
    gl_write(ring_name(slot->resource), bytes, RING_SIZE);
}

void assert_slot(const gr_slot *slot, int value)
{
    unsigned char bytes[RING_SIZE] = {0};
    if (!slot->buffer) {
        assert_gl_bytes(ring_name(slot->resource), RING_SIZE, value & 255);
        return;
    }
    CUstream stream = gr_buffer_get_info(slot->buffer)->stream;
    cuda_read(bytes, gr_buffer_ptr(slot->buffer), RING_SIZE, stream);
    assert_bytes(bytes, RING_SIZE, value & 255);
}

uint64_t write_frame(gr_ring *ring, gr_side producer, int value)
{
    const gr_slot *slot;
    must_acquire_write(ring, producer, &slot, 1);
    slot_fill(slot, value);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    ck_assert_ptr_null(slot->buffer);
    return slot->frame;
}

void write_frames(gr_ring *ring, gr_side producer, int first, int last)
{
    for (int i = first; i <= last; i++)
        ck_assert_uint_eq(write_frame(ring, producer, i), (uint64_t)i);
}

uint64_t read_frame(gr_ring *ring, gr_side producer, int value)
{
    const gr_slot *slot;
    must_acquire_read(ring, producer, &slot, 1);
    assert_slot(slot, value);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
    ck_assert_ptr_null(slot->buffer);
    return slot->frame;
}

const gr_slot *ring_to_opengl(gr_ring *ring, int value, int64_t timeout_ms)
{
    const gr_slot *slot;
    assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, timeout_ms));
    cuda_fill(slot->buffer, value);
    assert_ok(gr_ring_hand_over(ring, &slot, 1));
    assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, timeout_ms));
    return slot;
}

void ring_frame(gr_ring *ring, int value, int64_t timeout_ms)
{
    const gr_slot *slot = ring_to_opengl(ring, value, timeout_ms);
    assert_gl_bytes(gr_gl_name(slot->resource), gr_resource_get_info(slot->resource)->size, value);
    assert_ok(gr_ring_give_back(ring, &slot, 1));
}

void assert_counts(const gr_ring_info *counts, unsigned free, unsigned writing, unsigned ready,
                   unsigned reading)
{
    ck_assert_uint_eq(counts->free, free);
    ck_assert_uint_eq(counts->writing, writing);
    ck_assert_uint_eq(counts->ready, ready);
    ck_assert_uint_eq(counts->reading, reading);
}

void assert_slots(gr_ring *ring, unsigned free, unsigned writing, unsigned ready, unsigned reading)
{
    gr_ring_info now = *gr_ring_get_info(ring);
    assert_counts(&now, free, writing, ready, reading);
}

void assert_frames(gr_ring *ring, uint64_t written, uint64_t read, uint64_t dropped)
{
    gr_ring_info now = *gr_ring_get_info(ring);
    ck_assert_uint_eq(now.written, written);
    ck_assert_uint_eq(now.read, read);
    ck_assert_uint_eq(now.dropped, dropped);
}
