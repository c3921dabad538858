/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Buffers with a transport that copies: bytes, order, lifetime, and calls that fail. */
#include "gl_transport.h"

#include <stdlib.h>
#include <string.h>

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

unsigned count_gl_buffers(void)
{
    unsigned count = 0;
    for (GLuint name = 1; name < 4096; name++)
        count += glIsBuffer(name);
    return count;
}

static void EPOXY_CALLSPEC refuse_copy(GLuint from, GLuint to, GLintptr at, GLintptr offset,
                                       GLsizeiptr size)
{
    glEnable(GL_NONE);
    (void)from, (void)to, (void)at, (void)offset, (void)size;
}

static void *EPOXY_CALLSPEC refuse_map(GLenum target, GLintptr offset, GLsizeiptr size,
                                       GLbitfield access)
{
    glEnable(GL_NONE);
    (void)target, (void)offset, (void)size, (void)access;
    return NULL;
}

static void EPOXY_CALLSPEC refuse_texels(GLenum target, GLint level, GLint x, GLint y,
                                         GLsizei width, GLsizei height, GLenum format, GLenum type,
                                         const void *texels)
{
    glEnable(GL_NONE);
    (void)target, (void)level, (void)x, (void)y, (void)width, (void)height;
    (void)format, (void)type, (void)texels;
}

static void EPOXY_CALLSPEC refuse_dispatch(GLuint x, GLuint y, GLuint z)
{
    glEnable(GL_NONE);
    (void)x, (void)y, (void)z;
}

void opengl_refuses_data(bool refuses)
{
    static bool refused;
    static __typeof__(epoxy_glCopyNamedBufferSubData) copy;
    static __typeof__(epoxy_glMapBufferRange) map;
    static __typeof__(epoxy_glTexSubImage2D) texels;
    static __typeof__(epoxy_glDispatchCompute) dispatch;
    if (refuses == refused)
        return;
    refused = refuses;
    if (refuses) {
        copy = epoxy_glCopyNamedBufferSubData;
        map = epoxy_glMapBufferRange;
        texels = epoxy_glTexSubImage2D;
        dispatch = epoxy_glDispatchCompute;
    }
    epoxy_glCopyNamedBufferSubData = refuses ? refuse_copy : copy;
    epoxy_glMapBufferRange = refuses ? refuse_map : map;
    epoxy_glTexSubImage2D = refuses ? refuse_texels : texels;
    epoxy_glDispatchCompute = refuses ? refuse_dispatch : dispatch;
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

/* The other bytes keep their OpenGL contents. */
TRANSPORT_TEST(only_the_mapped_part_is_copied, 2)
{
    const gr_map_options part = GR_INIT(gr_map_options, .offset = 1000, .size = 96);
    unsigned char bytes[SIZE];
    GLuint name = gl_buffer_filled(SIZE, 0x21);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i]);
    gr_buffer *buffer = must_make(gr_map_with(resource, fx.stream, &part));
    ck_assert_uint_eq(gr_buffer_size(buffer), 96);
    if (writing[_i] == GR_READ_WRITE)
        assert_cuda_bytes(buffer, 0x21);
    fill_and_release(buffer, 0x22);
    gl_read(name, bytes, SIZE);
    assert_bytes(bytes, 1000, 0x21);
    assert_bytes(bytes + 1000, 96, 0x22);
    assert_bytes(bytes + 1096, SIZE - 1096, 0x21);
}

static GLuint stored(GLbitfield flags)
{
    static unsigned char bytes[SIZE];
    GLuint name = 0;
    pattern_fill(bytes, SIZE, 1);
    glGenBuffers(1, &name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, SIZE, bytes, flags);
    assert_gl_clean();
    return name;
}

TRANSPORT_TEST(buffers_with_immutable_storage_are_copied)
{
    static const GLbitfield flags[] = {0, GL_DYNAMIC_STORAGE_BIT, GL_MAP_READ_BIT,
                                       GL_MAP_WRITE_BIT | GL_DYNAMIC_STORAGE_BIT};
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        GLuint name = stored(flags[i]);
        GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
        for (unsigned round = 1; round < 3; round++)
            go_round(resource, SIZE, round);
        assert_gl_clean();
    }
}

TRANSPORT_TEST(a_buffer_with_a_persistent_mapping_is_copied)
{
    const GLbitfield access = GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    GLuint name = stored(access);
    const unsigned char *seen = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, SIZE, access);
    ck_assert_ptr_nonnull(seen);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    assert_cuda_pattern(buffer, 1);
    cuda_write_pattern(buffer, 2);
    assert_ok(gr_buffer_release(buffer));
    glFinish();
    assert_pattern(seen, SIZE, 2);
}

GROUP_BY("directions by a transport", copying_cases)

static void assert_copies(unsigned in, unsigned out)
{
    const bool is_one = strcmp(tested->in, tested->out) == 0;
    assert_calls(tested->in, is_one ? in + out : in);
    assert_calls(tested->out, is_one ? in + out : out);
}

TRANSPORT_TEST(read_write_copies_once_in_each_direction)
{
    GR_AUTO(gr_resource) *resource = tested->make(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    assert_copies(1, 0);
    assert_ok(gr_buffer_release(buffer));
    assert_copies(1, 1);
}

/* Writes by CUDA, which the flag forbids, do not reach OpenGL. */
TRANSPORT_TEST(read_only_copies_only_to_cuda)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_ONLY);
    for (unsigned i = 1; i < 4; i++) {
        gr_buffer *buffer = must_map(resource);
        assert_copies(i, 0);
        assert_calls(tested->first, i);
        assert_cuda_pattern(buffer, 1);
        fill_and_release(buffer, 0xEE);
        assert_copies(i, 0);
        if (tested->last) /* OpenGL may write the staging memory then */
            assert_calls(tested->last, i);
        assert_gl_pattern(name, SIZE, 1);
    }
}

/* CUDA still sees the bytes that it wrote last, not those of OpenGL. */
TRANSPORT_TEST(write_discard_copies_only_to_opengl)
{
    GLuint name = gl_buffer_filled(SIZE, 0x11);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_WRITE_DISCARD);
    write_mapped(resource, 5);
    assert_gl_pattern(name, SIZE, 5);
    unsigned char poison[SIZE];
    memset(poison, 0xEE, sizeof(poison));
    gl_write(name, poison, SIZE);
    assert_mapped(resource, 5);
    assert_gl_pattern(name, SIZE, 5);
    assert_copies(0, 2);
}

/* A map of the next frame, in another stream, does not wait for the kernel of this one. */
TRANSPORT_TEST(a_read_only_map_does_not_wait_for_the_previous_mapping)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    unsigned char *got[2] = {must_pin(SIZE), must_pin(SIZE)};
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_ONLY);
    struct gate *gate = read_behind_gate(resource, got[0], 2000);
    gl_write_pattern(name, SIZE, 2);
    read_on(resource, fx.other, got[1]);
    ck_assert(!gate_is_open(gate));
    gate_open(gate);
    assert_two_reads(got, SIZE);
}

GROUP_BY("ends by a transport", transport_cases)

/*
 * The bytes are lost, but the mapping must end. Catches: the release returned GR_OK, and wrote the
 * bytes to another buffer, which had the name of the deleted one.
 */
TRANSPORT_TEST(a_mapped_buffer_that_was_deleted_can_be_released, 4)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i % 2]);
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 2);
    gl_buffer_delete(name, _i / 2, SIZE, 3);
    assert_fails(gr_buffer_release(buffer), GR_ERR_PARTIAL, 0, "was deleted while it was mapped");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    if (_i / 2)
        assert_gl_bytes(name, SIZE, 3);
    assert_gl_clean();
}

/* The bytes are lost. Catches: each further release and the close failed like the first release. */
TRANSPORT_TEST(a_release_that_opengl_refuses_ends_the_mapping, 4)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i % 2]);
    gr_buffer *buffer = must_map(resource);
    cuda_write_pattern(buffer, 2);
    opengl_refuses_data(true);
    gr_status status =
        _i < 2 ? gr_buffer_release(buffer) : gr_resource_close(resource, GR_STREAM_OF_MAP);
    opengl_refuses_data(false);
    ck_assert_int_eq(status, GR_ERR_PARTIAL);
    assert_error(GR_ERR_PARTIAL, GL_INVALID_ENUM, "could not take back");
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_gl_clean();
    assert_gl_pattern(name, SIZE, 1);
    if (_i < 2)
        write_mapped(resource, 3);
    else
        assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, SIZE, _i < 2 ? 3 : 1);
}

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

/* Catches: the bytes of another buffer with its name were mapped. */
TRANSPORT_TEST(map_of_a_deleted_buffer_is_refused, 2)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, GR_READ_WRITE);
    gl_buffer_delete(name, _i, SIZE, 3);
    assert_null(gr_map(resource, fx.stream), GR_ERR_STATE, 0,
                _i ? "another object has its name" : "deleted");
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

TRANSPORT_TEST(a_failed_release_can_be_retried, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = tested->make(name, writing[_i]);
    for (unsigned i = 0; i < tested->release_call_count; i++) {
        const struct release_call *call = &tested->release_calls[i];
        gr_buffer *buffer = must_map(resource);
        cuda_write_pattern(buffer, 2 + i);
        let_fail(call->function, CUDA_ERROR_ILLEGAL_ADDRESS, call->after);
        assert_fails(gr_buffer_release(buffer), GR_ERR_DEVICE_LOST, CUDA_ERROR_ILLEGAL_ADDRESS,
                     tested->failed);
        ck_assert(gr_resource_get_info(resource)->mapped);
        assert_gl_pattern(name, SIZE, 1 + i);
        assert_ok(gr_buffer_release(buffer));
        assert_gl_pattern(name, SIZE, 2 + i);
    }
}

/* The copies of the first resources are in the stream, and the first one also has its copy back. */
TRANSPORT_TEST(a_failed_release_of_several_can_be_retried)
{
    gr_resource *resources[MANY];
    gr_buffer *buffers[MANY];
    for (unsigned i = 0; i < MANY; i++)
        resources[i] = tested->make(gl_buffer_pattern(SIZE, i), writing[i == 0]);
    for (unsigned k = 0; k < tested->release_call_count; k++) {
        const struct release_call *call = &tested->release_calls[k];
        assert_ok(gr_map_many(resources, MANY, fx.stream, NULL, buffers));
        for (unsigned i = 0; i < MANY; i++)
            cuda_write_pattern(buffers[i], 10 * k + i + 20);
        let_fail(call->function, CUDA_ERROR_UNKNOWN, call->is_single ? 0 : 1);
        assert_fails(gr_buffer_release_many(buffers, MANY, fx.stream, NULL), GR_ERR_CUDA,
                     CUDA_ERROR_UNKNOWN, tested->failed);
        for (unsigned i = 0; i < MANY; i++)
            ck_assert(gr_resource_get_info(resources[i])->mapped);
        assert_ok(gr_buffer_release_many(buffers, MANY, fx.other, NULL));
        for (unsigned i = 0; i < MANY; i++)
            assert_gl_pattern(gr_gl_name(resources[i]), SIZE, 10 * k + i + 20);
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
    struct gate *gate = gate_open_after(gate_put(fx.stream), 50);
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

/*
 * The copies of a failed map are in the stream, and a copy of a third resource failed. Their memory
 * must not end before the stream has passed them.
 */
TRANSPORT_TEST(freeing_a_resource_after_a_failed_map_keeps_its_memory)
{
    gr_resource *resources[3];
    gr_buffer *buffers[3] = {NULL};
    for (unsigned i = 0; i < 3; i++)
        resources[i] = tested->make(gl_buffer_pattern(SIZE, i), GR_READ_WRITE);
    struct gate *gate = gate_put(fx.stream);
    let_fail(tested->in, CUDA_ERROR_UNKNOWN, 2);
    assert_fails(gr_map_many(resources, 3, fx.stream, NULL, buffers), GR_ERR_CUDA,
                 CUDA_ERROR_UNKNOWN, tested->failed);
    gate_open_after(gate, 2000); /* opens late: a call that waits is detected, but still ends */
    free_resources(resources, 3);
    ck_assert(!gate_is_open(gate));
    assert_ended(0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    gr_resource_free(tested->make(gl_buffer_pattern(SIZE, 1), GR_READ_WRITE));
    assert_ended(4);
}
