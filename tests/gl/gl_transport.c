/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers with a transport that copies: bytes, order, lifetime, and calls that fail. */
#include "gl_transport.h"

#include <stdlib.h>

#include <epoxy/egl.h>

#include "tests/support/usable.h"

#define SIZE 4096
#define MANY 4

#define TRANSPORT_TEST(...) TEST_UNLESS(tested->missing(), __VA_ARGS__)

/* ---- Steps ----------------------------------------------------------------------------------- */

static void *left_context, *left_display;

void leave_context(void)
{
    left_context = eglGetCurrentContext();
    left_display = eglGetCurrentDisplay();
    assert_ok(gr_egl_make_current(NULL));
}

void enter_context(void)
{
    ck_assert(eglMakeCurrent(left_display, EGL_NO_SURFACE, EGL_NO_SURFACE, left_context));
}

void go_round(gr_resource *resource, size_t size, unsigned round)
{
    assert_both_ways(must_map(resource), gr_gl_name(resource), size, round);
}

void let_fail(const char *function, CUresult code, long after)
{
    fault->reset();
    ck_assert_msg(fault->set(function, (int)code, after), "%s can't fail", function);
}

unsigned char *must_pin(size_t size)
{
    void *memory = NULL;
    CU(MemAllocHost(&memory, size));
    return memory;
}

static void copy_and_release(gr_buffer *buffer, unsigned char *to)
{
    CU(MemcpyDtoHAsync(to, gr_buffer_ptr(buffer), gr_buffer_size(buffer),
                       gr_buffer_get_info(buffer)->stream));
    assert_ok(gr_buffer_release(buffer));
}

void read_on(gr_resource *resource, CUstream stream, unsigned char *to)
{
    copy_and_release(must_map_on(resource, stream), to);
}

struct gate *read_behind_gate(gr_resource *resource, unsigned char *to, unsigned ms)
{
    gr_buffer *buffer = must_map(resource);
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_put(fx.stream);
    if (ms)
        gate_open_after(gate, ms);
    copy_and_release(buffer, to);
    return gate;
}

void assert_two_reads(unsigned char *const got[2], size_t size)
{
    CU(StreamSynchronize(fx.stream));
    CU(StreamSynchronize(fx.other));
    for (unsigned i = 0; i < 2; i++) {
        assert_pattern(got[i], size, i + 1);
        CU(MemFreeHost(got[i]));
    }
}

void gl_write_pattern(GLuint name, size_t size, unsigned seed)
{
    unsigned char *bytes = must_allocate(size);
    pattern_fill(bytes, size, seed);
    gl_write(name, bytes, size);
    free(bytes);
}

static void assert_ended(unsigned count)
{
    if (tested->end)
        assert_calls(tested->end, count);
}

static const unsigned writing[] = {GR_READ_WRITE, GR_WRITE_DISCARD};

GROUP_BY("bytes and order by a transport", transport_cases)

TRANSPORT_TEST(bytes_pass_both_ways)
{
    static const size_t sizes[] = {1, 3, 4096, 777777, 3 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        GLuint name = gl_buffer_pattern(sizes[i], 1);
        GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
        ck_assert_uint_eq(gr_gl_name(resource), name);
        ck_assert_uint_eq(gr_gl_target(resource), GL_ARRAY_BUFFER);
        for (unsigned round = 1; round < 4; round++)
            go_round(resource, sizes[i], round);
    }
}

TRANSPORT_TEST(a_map_may_copy_in_one_direction, 2)
{
    const size_t size = _i ? 5 << 20 : SIZE;
    GLuint name = gl_buffer_pattern(size, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
    for (unsigned round = 1; round < 3; round++) {
        go_round(resource, size, round);
        gr_buffer *buffer = must_make(
            gr_map_with(resource, fx.stream, &GR_INIT(gr_map_options, .access = GR_MAP_READ_ONLY)));
        assert_cuda_pattern(buffer, round + 1);
        cuda_fill(buffer, 0xEE); /* is not copied back */
        assert_ok(gr_buffer_release(buffer));
        gl_write_pattern(name, size, 50);
        buffer = must_make(gr_map_with(resource, fx.stream,
                                       &GR_INIT(gr_map_options, .access = GR_MAP_WRITE_DISCARD)));
        assert_cuda_bytes(buffer, 0xEE); /* the map has copied nothing */
        cuda_write_pattern(buffer, round + 1);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, size, round + 1);
    }
}

/* A map also comes after commands that are still in the OpenGL queue. */
TRANSPORT_TEST(map_comes_after_earlier_opengl_commands)
{
    GLuint name = gl_buffer_filled(SIZE, 1), source = gl_buffer_pattern(SIZE, 7);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_ONLY);
    gl_copy_buffer(source, name, SIZE);
    GR_AUTO(gr_buffer) *buffer = must_map(resource);
    assert_cuda_pattern(buffer, 7);
}

TRANSPORT_TEST(release_comes_after_earlier_stream_work, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i]);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 1);
    struct gate *gate = gate_put(fx.stream);
    cuda_fill(buffer, 2);
    gate_open_after(gate, 30);
    assert_ok(gr_buffer_release(buffer));
    if (tested->release_waits)
        ck_assert(gate_is_open(gate));
    assert_gl_bytes(name, SIZE, 2);
}

TRANSPORT_TEST(release_on_another_stream_comes_after_work_on_the_first, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i]);
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), 30);
    cuda_fill(buffer, 3);
    assert_ok(release_on(buffer, fx.other));
    assert_gl_bytes(name, SIZE, 3);
}

GROUP_BY("ends by a transport", transport_cases)

TRANSPORT_TEST(freeing_a_resource_does_not_wait_for_the_stream)
{
    unsigned char *got = must_pin(SIZE);
    gr_resource *resource = tested->make(gl_buffer_pattern(SIZE, 4), GR_READ_ONLY);
    struct gate *gate = read_behind_gate(resource, got, 2000);
    gr_resource_free(resource);
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    assert_pattern(got, SIZE, 4);
    CU(MemFreeHost(got));
    gr_resource_free(
        /* Also frees the objects whose free was deferred. */
        tested->make(gl_buffer_filled(64, 1), GR_READ_WRITE));
}

TRANSPORT_TEST(map_of_a_deleted_buffer_is_refused)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
    glDeleteBuffers(1, &name);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "deleted");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_calls(tested->first, 0);
}

TRANSPORT_TEST(map_after_the_storage_was_replaced_is_refused, 2)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i]);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferData(GL_COPY_WRITE_BUFFER, SIZE / 2, NULL, GL_STATIC_DRAW);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0, "storage has since been replaced");
    assert_calls(tested->first, 0);
    if (!tested->finds_storage)
        return;
    glBufferData(GL_COPY_WRITE_BUFFER, SIZE, NULL, GL_STATIC_DRAW);
    assert_ok(gr_buffer_release(must_map(resource)));
}

TRANSPORT_TEST(calls_in_another_context_are_refused)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    leave_context();
    assert_fails(gr_buffer_release(buffer), GR_ERR_GL, 0, "No OpenGL context");
    gr_egl *stranger = must_make(gr_egl_create(NULL));
    assert_fails(gr_buffer_release(buffer), GR_ERR_GL, 0, "another context");
    assert_fails(gr_resource_close(resource, fx.stream), GR_ERR_GL, 0, "another context");
    gr_egl_free(stranger);
    enter_context();
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, 1);
}

TRANSPORT_TEST(a_resource_freed_without_its_context_frees_its_cuda_memory)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    gr_resource *resource = tested->make(name, GR_READ_WRITE);
    leave_context();
    gr_resource_free(resource);
    assert_ended(1);
    enter_context();
    gr_resource_free(tested->make(name, GR_READ_WRITE)); /* ends the objects of OpenGL, too */
    assert_ended(2);
    assert_gl_pattern(name, SIZE, 1);
}

GROUP_BY("calls that the driver refuses, by a transport", transport_cases)

static void assert_no_map(gr_resource *const resources[MANY], const struct map_call *call,
                          long after)
{
    gr_buffer *buffers[MANY] = {NULL};
    let_fail(call->function, CUDA_ERROR_UNKNOWN, after);
    assert_fails(gr_map_many(resources, MANY, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, tested->failed);
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_ptr_null(buffers[i]);
        ck_assert(!gr_resource_get_info(resources[i])->mapped);
    }
}

/* CUDA reads pattern i + round of each resource, and writes the next one to those of even number.
 */
static void go_round_of_many(gr_resource *const resources[MANY], unsigned rounds[MANY])
{
    gr_buffer *buffers[MANY];
    assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
    for (unsigned i = 0; i < MANY; i++) {
        assert_cuda_pattern(buffers[i], i + rounds[i]);
        cuda_write_pattern(buffers[i], i + rounds[i] + 1); /* read_only: is not copied back */
        rounds[i] += i % 2 ? 0 : 1;
    }
    assert_ok(gr_buffer_release_many(buffers, MANY, fx.stream, NULL));
    for (unsigned i = 0; i < MANY; i++)
        assert_gl_pattern(gr_gl_name(resources[i]), SIZE, i + rounds[i]);
}

TRANSPORT_TEST(map_many_that_fails_midway_maps_nothing)
{
    gr_resource *resources[MANY];
    unsigned rounds[MANY] = {0};
    for (unsigned i = 0; i < MANY; i++)
        resources[i] =
            tested->make(gl_buffer_pattern(SIZE, i), i % 2 ? GR_READ_ONLY : GR_READ_WRITE);
    go_round_of_many(resources, rounds);
    for (size_t k = 0; k < tested->map_call_count; k++)
        for (long after = 0; after < tested->map_calls[k].calls; after++) {
            assert_no_map(resources, &tested->map_calls[k], after);
            go_round_of_many(resources, rounds);
        }
    free_resources(resources, MANY);
}

GROUP_BY("copies that fail, by a transport", copying_cases)

/*
 * The copy of the first resource is in the stream. Then cuEventRecord fails: once in a map and once
 * in a release. The call must wait for the copy, because afterwards another stream may use the
 * memory, or the memory may be freed.
 *
 * Catches: the memory was freed and the OpenGL buffer unmapped while a copy was in flight.
 */
TRANSPORT_TEST(a_call_that_cannot_record_its_copies_waits_for_them)
{
    GLuint names[2] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    gr_resource *resources[2];
    gr_buffer *buffers[2] = {NULL};
    for (int i = 0; i < 2; i++)
        resources[i] = tested->make(names[i], GR_READ_WRITE);
    struct gate *gate = gate_put(fx.stream);
    gate_open_after(gate, 50);
    let_fail(tested->in, CUDA_ERROR_UNKNOWN, 1);
    ck_assert(fault->set("cuEventRecord", CUDA_ERROR_UNKNOWN, 1));
    assert_fails(gr_map_many(resources, 2, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, "copy");
    ck_assert(gate_is_open(gate));
    gr_resource_free(resources[1]);
    gr_buffer *buffer = must_map(resources[0]);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 3, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    gate = gate_put(fx.stream);
    gate_open_after(gate, 50);
    let_fail("cuEventRecord", CUDA_ERROR_UNKNOWN, 0);
    assert_fails(gr_buffer_release(buffer), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN, "copy");
    ck_assert(gate_is_open(gate));
    ck_assert(gr_resource_get_info(resources[0])->mapped);
    assert_ok(release_on(buffer, fx.other));
    gr_resource_free(resources[0]);
    assert_gl_bytes(names[0], SIZE, 3);
    assert_gl_bytes(names[1], SIZE, 2);
}
