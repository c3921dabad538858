/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Buffers by copy: bytes pass both ways and in stream order, and are copied only in the directions
 * that the flags need.
 */
#include "gl_copy_tests.h"

#include <grinterop/ring.h>

#include <stdlib.h>
#include <string.h>

#define SIZE 4096
#define MANY 5

#define IN   "cuMemcpyHtoDAsync"
#define OUT  "cuMemcpyDtoHAsync"
#define WAIT "cuEventQuery"

GROUP("buffers by copy", EVERY_COPY_GL)

/* Allocates the storage in one of the ways that the transport writes to differently. */
static GLuint new_storage(int way)
{
    static const GLbitfield flags[] = {0, GL_DYNAMIC_STORAGE_BIT, GL_MAP_WRITE_BIT,
                                       GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT};
    GLuint name = 0;
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    if (way == 0)
        glBufferData(GL_COPY_WRITE_BUFFER, SIZE, NULL, GL_DYNAMIC_DRAW);
    else
        glBufferStorage(GL_COPY_WRITE_BUFFER, SIZE, NULL, flags[way]);
    if (way == 3)
        must_make(glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, SIZE, flags[way]));
    return name;
}

/*
 * Catches: glBufferSubData wrote the bytes of CUDA before an earlier clear or copy ran, which then
 * replaced them (NVIDIA driver 580).
 */
COPY_TEST(a_release_follows_earlier_writes_of_opengl, 4)
{
    const unsigned char old = 0x22;
    GLuint name = new_storage(_i), source = gl_buffer_filled(SIZE, 0x33);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_WRITE_DISCARD);
    for (unsigned round = 0; round < 20; round++) {
        gr_buffer *buffer = must_map(resource);
        cuda_fill(buffer, 0x44);
        glBindBuffer(GL_COPY_WRITE_BUFFER, name);
        glClearBufferData(GL_COPY_WRITE_BUFFER, GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, &old);
        if (round % 2)
            gl_copy_buffer(source, name, SIZE);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_bytes(name, SIZE, 0x44);
    }
}

GROUP("large copies", EVERY_COPY_GL)
TAG("bytes")

#define MIB ((size_t)1 << 20)

/*
 * Sizes around the limits at which the number of pieces changes, and the number of pieces of each
 * size.
 */
static const struct {
    size_t size;
    unsigned pieces;
} large[] = {{4 * MIB - 1, 1}, {4 * MIB, 2}, {9 * MIB + 5, 5}, {33 * MIB + 1, 6}};

static __typeof__(epoxy_glFenceSync) real_fence;
static unsigned fences;

static GLsync EPOXY_CALLSPEC count_fence(GLenum condition, GLbitfield flags)
{
    fences++;
    return real_fence(condition, flags);
}

COPY_TEST(large_buffers_are_copied_in_pieces, sizeof(large) / sizeof(*large))
{
    GLuint name = gl_buffer_pattern(large[_i].size, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    bool mapped = fault->calls("cuMemAllocHost") == 0;
    go_round(resource, large[_i].size, 1);
    assert_calls(IN, mapped ? large[_i].pieces : 1);
    assert_calls(OUT, large[_i].pieces);
    fences = 0;
    real_fence = epoxy_glFenceSync == count_fence ? real_fence : epoxy_glFenceSync;
    epoxy_glFenceSync = count_fence;
    go_round(resource, large[_i].size, 2);
    epoxy_glFenceSync = real_fence;
    /* one for each piece that OpenGL copies for CUDA, and one after its copy of what CUDA wrote */
    ck_assert_uint_eq(fences, mapped ? large[_i].pieces + 1 : 0);
}

COPY_TEST(large_mapped_parts_are_copied_in_pieces)
{
    const size_t size = 10 * MIB, offset = 3 * MIB + 1, part = 5 * MIB + 3;
    unsigned char *bytes = must_allocate(size), *wanted = must_allocate(size);
    GR_AUTO(gr_resource) *resource = must_copy(gl_buffer_filled(size, 0x11), GR_READ_WRITE);
    const gr_map_options options = GR_INIT(gr_map_options, .offset = offset, .size = part);
    gr_buffer *buffer = NULL;
    assert_ok(gr_map_many(&resource, 1, fx.stream, &options, &buffer));
    assert_cuda_bytes(buffer, 0x11);
    cuda_write_pattern(buffer, 9);
    assert_ok(gr_buffer_release(buffer));
    memset(wanted, 0x11, size);
    pattern_fill(wanted + offset, part, 9);
    gl_read(gr_gl_name(resource), bytes, size);
    ck_assert(memcmp(bytes, wanted, size) == 0);
    free(bytes);
    free(wanted);
}

/*
 * The second map uses the other half of the host memory while the copy of the first map is still in
 * flight.
 */
COPY_TEST(large_read_only_buffers_show_the_bytes_of_each_map)
{
    const size_t size = 9 * MIB + 5;
    GLuint name = gl_buffer_pattern(size, 1), source = gl_buffer_pattern(size, 2);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_ONLY);
    gr_buffer *buffer = must_map(resource);
    gl_copy_buffer(source, name, size);
    assert_cuda_pattern(buffer, 1);
    assert_ok(gr_buffer_release(buffer));
    assert_mapped(resource, 2);
    assert_mapped(resource, 2);
}

/* After a failed copy the buffer stays mapped, and after a failed map it stays unmapped. */
COPY_TEST(a_failed_piece_of_a_copy_fails_the_call)
{
    const size_t size = 9 * MIB + 5;
    GLuint name = gl_buffer_pattern(size, 1);
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_WRITE);
    for (long after = 0; after < 5; after++) {
        gr_buffer *buffer = must_map(resource);
        cuda_write_pattern(buffer, 2);
        ck_assert(fault->set(after % 2 ? WAIT : OUT, CUDA_ERROR_UNKNOWN, after));
        assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "copy");
        ck_assert(gr_resource_get_info(resource)->mapped);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, size, 2);
    }
    ck_assert(fault->set(IN, CUDA_ERROR_UNKNOWN, 0));
    assert_null(gr_map(resource, fx.stream), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "copy");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_mapped(resource, 2);
}

GROUP("order of copies", EVERY_COPY_GL)

/* Two maps may be in flight. The third waits until the stream has read the bytes of the first. */
COPY_TEST(a_third_read_only_map_waits_for_the_first)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    unsigned char *got[3] = {must_pin(SIZE), must_pin(SIZE), must_pin(SIZE)};
    GR_AUTO(gr_resource) *resource = must_copy(name, GR_READ_ONLY);
    struct gate *gate = gate_open_after(gate_put(fx.stream), 700);
    for (unsigned i = 0; i < 3; i++) {
        gl_write_pattern(name, SIZE, i + 1);
        gr_buffer *buffer = must_map(resource);
        ck_assert_int_eq(gate_is_open(gate), i == 2);
        CU(MemcpyDtoHAsync(got[i], gr_buffer_ptr(buffer), SIZE, fx.stream));
        assert_ok(gr_buffer_release(buffer));
    }
    CU(StreamSynchronize(fx.stream));
    for (unsigned i = 0; i < 3; i++) {
        assert_pattern(got[i], SIZE, i + 1);
        CU(MemFreeHost(got[i]));
    }
}

/* ---- Batches --------------------------------------------------------------------------------- */

COPY_TEST(map_many_waits_for_opengl_once)
{
    GLuint names[MANY];
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        names[i] = gl_buffer_pattern(SIZE + i, i);
        resources[i] = must_copy(names[i], i == 1 ? GR_READ_ONLY : GR_READ_WRITE);
    }
    assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
    assert_calls(IN, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        assert_cuda_pattern(buffers[i], i);
        cuda_write_pattern(buffers[i], i + 20);
    }
    unsigned long waits = fault->calls(WAIT);
    assert_ok(gr_buffer_release_many(buffers, MANY, fx.stream, NULL));
    assert_calls(WAIT, waits + 1);
    assert_calls(OUT, MANY - 1);
    for (unsigned i = 0; i < MANY; i++) {
        assert_gl_pattern(names[i], SIZE + i, i == 1 ? i : i + 20);
        gr_resource_free(resources[i]);
    }
}

GROUP("rings by copy, in pieces", EVERY_COPY_GL)

/* OpenGL reads the first piece of a frame before CUDA has copied the last one. */
COPY_TEST(frames_of_several_pieces_can_be_in_flight)
{
    enum { BYTES = 9 << 20 };
    const gr_slot *slot;
    gr_resource *resources[2];
    for (int i = 0; i < 2; i++)
        resources[i] = must_copy(gl_buffer_filled(BYTES, 0), GR_WRITE_DISCARD);
    gr_ring *ring = must_make(gr_ring_create(resources, 2, NULL));
    for (int frame = 0; frame < 6; frame++) {
        assert_ok(gr_ring_acquire_write(ring, fx.stream, &slot, 1, 0));
        cuda_fill(slot->buffer, frame + 1);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
        if (frame == 0)
            continue;
        assert_ok(gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0));
        assert_gl_bytes(gr_gl_name(slot->resource), BYTES, frame);
        assert_ok(gr_ring_give_back(ring, &slot, 1));
    }
    gr_ring_free(ring);
    free_resources(resources, 2);
}
