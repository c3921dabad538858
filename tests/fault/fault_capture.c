/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Streams that capture a graph. Each call must be refused, put nothing into the stream and leave
 * the capture valid, and the same call must succeed after the capture.
 *
 * Catches: a captured map or release repeated the wait and the signal of one frame at each launch
 * of the graph.
 */
#include "tests/drivers/fault_driver.h"
#include "tests/support/support.h"
#include "tests/support/usable.h"

#include <grinterop/framebuffer.h>
#include <grinterop/image.h>
#include <grinterop/publish.h>
#include <grinterop/ring.h>
#include <grinterop/share.h>
#include <grinterop/submit.h>
#include <grinterop/tensor.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

#define SIZE       USABLE_SIZE
#define CAPTURING  "cuStreamIsCapturing"
#define TRANSPORTS 2

/* The number of calls that would become part of the graph. */
static unsigned long enqueued(void)
{
    static const char *const calls[] = {
        "cuGraphicsMapResources", "cuGraphicsUnmapResources", "cuEventRecord",
        "cuStreamWaitEvent",      "cuLaunchHostFunc",         "cuMemcpyHtoDAsync",
        "cuMemcpyDtoHAsync",      "cuMemcpy3DAsync",          "cuMemcpyAsync",
    };
    unsigned long count = 0;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        count += fault->calls(calls[i]);
    return count;
}

static void assert_captured(unsigned long before, const char *what)
{
    const gr_error error = *gr_last_error();
    ck_assert_msg(error.status == GR_ERR_STATE, "%s: %s", what, error_text());
    ck_assert_msg(strstr(error.message, "is capturing a graph"), "%s: %s", what, error.message);
    ck_assert_int_eq(error.code, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ck_assert_msg(enqueued() == before, "%s put something into the stream", what);
    gr_clear_error();
}

/* The call must fail while the stream captures, and change nothing. */
#define assert_refused(call)                                                                       \
    do {                                                                                           \
        unsigned long before_ = enqueued();                                                        \
        ck_assert_msg(!(call), "%s succeeded in a capture", #call);                                \
        assert_captured(before_, #call);                                                           \
    } while (0)
#define assert_state(call) assert_refused((call) == GR_OK)

static gr_resource *make(int transport, unsigned flags)
{
    static const gr_transport transports[] = {GR_TRANSPORT_INTEROP, GR_TRANSPORT_COPY};
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports[transport]);
    return must_make(gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 0), flags, &options));
}

static gr_tensor *make_tensor(CUstream stream)
{
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 1, .shape = (const int64_t[]){SIZE});
    return gr_tensor_create(&desc, stream);
}

static void end(void)
{
    fault->reset();
    drop_capture();
}

static TCase *add_maps_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), NULL, end);
}

GROUP("captures", add_maps_case)

/*
 * The release is on the stream of the map, on another stream that captures, and on a stream that
 * would wait for the capturing one.
 */
TEST(release_on_a_capturing_stream_is_refused, TRANSPORTS)
{
    GR_AUTO(gr_resource) *resource = make(_i, GR_READ_WRITE);
    CUevent event;
    CU(EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    const gr_release_options after = GR_INIT(gr_release_options, .wait_event = event);
    gr_buffer *buffer = must_map(resource);
    capture_graph(fx.stream);
    assert_state(gr_buffer_release(buffer));
    assert_state(gr_buffer_release_many(&buffer, 1, GR_STREAM_OF_MAP, &after));
    assert_state(gr_buffer_release_many(&buffer, 1, fx.other, NULL));
    assert_state(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    assert_state(gr_resource_close(resource, GR_STREAM_OF_MAP));
    capture_graph(fx.other);
    assert_state(gr_buffer_release_many(&buffer, 1, fx.other, &after));
    assert_state(gr_resource_unmap(resource, fx.other));
    ck_assert(gr_resource_get_info(resource)->mapped && gr_buffer_ptr(buffer));
    capture_graph_relaxed(fx.other);
    assert_ok(gr_buffer_release(buffer));
    assert_state(gr_resource_close(resource, fx.other));
    ck_assert(!gr_resource_get_info(resource)->closed);
    capture_graph(NULL);
    assert_resource_usable(resource, gr_gl_name(resource));
    CU(EventDestroy(event));
}

/*
 * During a capture, cuStreamIsCapturing reports a use of the legacy stream as an error. grinterop
 * ignores other errors of that function.
 */
TEST(the_legacy_stream_is_refused_during_a_capture)
{
    GR_AUTO(gr_resource) *resource = make(0, GR_READ_WRITE);
    ck_assert(fault->set(CAPTURING, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 0));
    assert_refused(gr_map(resource, CU_STREAM_LEGACY));
    ck_assert(fault->set(CAPTURING, CUDA_ERROR_NOT_SUPPORTED, 0));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_buffer_release(buffer));
}

/* Catches: the storage was registered again before the capture was noticed. */
TEST(replaced_storage_is_not_followed_in_a_capture, TRANSPORTS)
{
    const GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_make(gr_from_gl_buffer_with(
        name, GR_READ_WRITE,
        &GR_INIT(gr_gl_options, .follow_storage = true,
                 .transports = _i ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP)));
    GR_AUTO(gr_tensor) *tensor = must_make(make_tensor(fx.other));
    gr_buffer *buffer = must_map(resource);
    assert_ok(gr_buffer_release(buffer));
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glBufferData(GL_ARRAY_BUFFER, 2 * SIZE, NULL, GL_DYNAMIC_DRAW);
    capture_graph(fx.stream);
    const unsigned long before =
        fault->calls("cuGraphicsUnregisterResource") + fault->calls("cuMemFreeHost");
    assert_refused(gr_map(resource, fx.stream));
    assert_refused(gr_map_linear(resource, 0, 0, fx.stream));
    assert_state(gr_publish(resource, tensor, NULL, fx.stream));
    ck_assert_uint_eq(fault->calls("cuGraphicsUnregisterResource") + fault->calls("cuMemFreeHost"),
                      before);
    capture_graph(NULL);
    buffer = must_map(resource);
    ck_assert_uint_eq(gr_buffer_size(buffer), 2 * SIZE);
    assert_ok(gr_buffer_release(buffer));
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static GLuint make_texture(void)
{
    GLuint texture = bound_texture(GL_TEXTURE_2D);
    glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, 4, 4);
    return texture;
}

static GLuint framebuffer_of(GLuint texture)
{
    GLuint framebuffer = bound_framebuffer(GL_FRAMEBUFFER);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    return framebuffer;
}

/* Catches: the linear memory was allocated first, which invalidated the capture. */
TEST(linear_maps_on_a_capturing_stream_allocate_nothing, TRANSPORTS)
{
    const GLuint name = make_texture();
    GR_AUTO(gr_resource) *resource = must_make(gr_from_gl_image_with(
        name, GL_TEXTURE_2D, GR_READ_WRITE,
        &GR_INIT(gr_gl_options, .transports = _i ? GR_TRANSPORT_COPY : GR_TRANSPORT_INTEROP)));
    capture_graph(fx.stream);
    const unsigned long before = fault->calls("cuMemAlloc_v2");
    assert_refused(gr_map_linear(resource, 0, 0, fx.stream));
    ck_assert_uint_eq(fault->calls("cuMemAlloc_v2"), before);
    capture_graph(NULL);
    gr_buffer *buffer = must_make(gr_map_linear(resource, 0, 0, fx.stream));
    assert_ok(gr_buffer_release(buffer));
}

/* Catches: the staging buffer was created first. */
TEST(framebuffers_are_not_fetched_in_a_capture)
{
    const int64_t shape[] = {4, 4, 4};
    gr_tensor *tensor = must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape), fx.other));
    GLuint framebuffer = framebuffer_of(make_texture());
    capture_graph(fx.stream);
    fault->reset();
    assert_state(gr_fetch_framebuffer(framebuffer, tensor, NULL, fx.stream));
    ck_assert_uint_eq(fault->calls("cuMemCreate") + fault->calls("cuGraphicsGLRegisterBuffer"), 0);
    capture_graph(NULL);
    assert_ok(gr_fetch_framebuffer(framebuffer, tensor, NULL, fx.stream));
    gr_tensor_free(tensor);
    glDeleteFramebuffers(1, &framebuffer);
}

/* ---- Another stream ----------------------------------------------------------------------------
 */

#define OPTIONS(...)                                                                               \
    {                                                                                              \
        .struct_size = sizeof(gr_gl_options), __VA_ARGS__                                          \
    }
static const gr_gl_options survivors[] = {
    OPTIONS(.transports = GR_TRANSPORT_INTEROP),
    OPTIONS(.transports = GR_TRANSPORT_COPY),
    OPTIONS(.transports = GR_TRANSPORT_PEER),
    OPTIONS(.transports = GR_TRANSPORT_PEER, .in_flight = 2),
    OPTIONS(.transports = GR_TRANSPORT_SHARED),
};
#define SHARED 4

/*
 * What a viewer does while PyTorch captures: the mode is global, so that the driver invalidates the
 * capture at each unsafe call of any thread. capture_graph() checks that the graph is valid and
 * empty.
 */
TEST(calls_for_other_streams_leave_a_capture_valid, SHARED + 1)
{
    const unsigned flags = survivors[_i].in_flight ? GR_WRITE_DISCARD : GR_READ_WRITE;
    capture_graph(fx.other);
    gr_resource *resource = must_make(
        _i == SHARED ? gr_create_gl_buffer(SIZE, flags, &survivors[_i])
                     : gr_from_gl_buffer_with(gl_buffer_filled(SIZE, 0), flags, &survivors[_i]));
    assert_resource_usable(resource, gr_gl_name(resource));
    gr_tensor *tensor = must_make(make_tensor(fx.stream));
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    if (flags == GR_READ_WRITE)
        assert_ok(gr_fetch(resource, tensor, NULL, fx.stream));
    gr_tensor_free(tensor);
    gr_resource_free(resource);
    capture_graph(NULL);
}

TEST(images_for_other_streams_leave_a_capture_valid)
{
    const int64_t shape[] = {4, 4, 4};
    const GLuint texture = make_texture(), framebuffer = framebuffer_of(texture);
    capture_graph(fx.other);
    gr_resource *resource = must_make(gr_from_gl_image(texture, GL_TEXTURE_2D, GR_READ_WRITE));
    gr_tensor *tensor = must_make(gr_tensor_create(
        &GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F32, .ndim = 3, .shape = shape), fx.stream));
    assert_ok(gr_publish(resource, tensor, NULL, fx.stream));
    assert_ok(gr_fetch_framebuffer(framebuffer, tensor, NULL, fx.stream));
    gr_tensor_free(tensor);
    gr_resource_free(resource);
    capture_graph(NULL);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteTextures(1, &texture);
}

/* ---- What ends ------------------------------------------------------------------------------- */

/*
 * A garbage collector may run at any time. Catches: queries and frees by these calls invalidated
 * the capture.
 */
TEST(frees_leave_a_capture_valid, TRANSPORTS)
{
    gr_resource *slots[] = {make(_i, GR_READ_WRITE), make(_i, GR_READ_WRITE)};
    gr_resource *resource = make(_i, GR_READ_WRITE), *mapped = make(_i, GR_READ_WRITE);
    gr_tensor *of_capture = must_make(make_tensor(fx.stream));
    gr_tensor *tensor = must_make(make_tensor(fx.other));
    gr_ring *ring = must_make(gr_ring_create(slots, 2, NULL));
    gr_buffer *buffer = must_make(gr_map(resource, fx.other));
    assert_ok(gr_buffer_release(buffer));
    CU(MemsetD8Async(gr_tensor_get_info(tensor)->ptr, 1, SIZE, fx.other));
    capture_graph(fx.stream);
    gr_tensor_free(of_capture);
    gr_tensor_free(tensor);
    gr_ring_free(ring);
    free_resources(slots, 2);
    gr_resource_free(resource);
    ck_assert_int_eq(gr_tensor_collect(0), GR_ERR_NOT_READY);
    gr_clear_error();
    gr_resource_free(mapped);
    capture_graph(NULL);
    assert_ok(gr_tensor_collect(1000));
}

/* Exports the tensor to `stream`. Returns NULL if DLPack is not available. */
static void *export_to(gr_tensor *tensor, CUstream stream)
{
#if __has_include(<dlpack/dlpack.h>)
    return must_make(gr_tensor_to_dlpack(tensor, GR_DLPACK_VERSIONED, stream));
#else
    (void)tensor, (void)stream;
    return NULL;
#endif
}

static void end_export(void *managed)
{
#if __has_include(<dlpack/dlpack.h>)
    DLManagedTensorVersioned *of_dlpack = managed;
    if (managed)
        of_dlpack->deleter(managed);
#else
    (void)managed;
#endif
}

/*
 * The tensor is freed while its own stream or the stream of its consumer captures. Nothing may be
 * put into that stream, and the tensor must end after the capture. Calls that would wait for the
 * stream are refused.
 *
 * Catches: an event was recorded during the capture and became part of the graph.
 */
TEST(a_tensor_freed_during_a_capture_ends_after_the_capture, TRANSPORTS)
{
    gr_tensor *tensor = must_make(make_tensor(_i ? fx.other : fx.stream));
    void *managed = _i ? export_to(tensor, fx.stream) : NULL;
    if (_i && !managed) {
        gr_tensor_free(tensor);
        return;
    }
    capture_graph(fx.stream);
    assert_state(gr_tensor_wait(tensor, fx.other));
    const unsigned long before = fault->calls("cuEventRecord");
    end_export(managed);
    gr_tensor_free(tensor);
    ck_assert_int_eq(gr_tensor_collect(0), GR_ERR_NOT_READY);
    gr_clear_error();
    ck_assert_uint_le(fault->calls("cuEventRecord"), before + _i);
    capture_graph(NULL);
    assert_ok(gr_tensor_collect(1000));
}

/*
 * The last export of a mapping, and its resource, end while the stream of the consumer captures.
 * The mapping must end after the capture, also if another call looks for work before.
 */
TEST(a_freed_mapping_ends_after_the_capture)
{
    int sockets[2];
    GR_AUTO(gr_resource) *sent = gr_create_gl_buffer(SIZE, GR_READ_WRITE, &by_sharing);
    if (!sent)
        skip("%s", error_text());
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    assert_ok(gr_resource_send(sockets[0], sent, NULL, 0, 1000));
    gr_resource *resource = must_make(gr_resource_receive(sockets[1], NULL, 0, NULL, 1000));
    close(sockets[0]);
    close(sockets[1]);
    assert_ok(gr_resource_set_sync(resource, GR_SEMAPHORE_NONE, GR_SEMAPHORE_NONE));
    gr_buffer *buffer = must_map(resource);
    gr_tensor *tensor = must_make(gr_buffer_tensor(buffer, NULL));
    void *managed = export_to(tensor, fx.other);
    capture_graph_relaxed(managed ? fx.other : NULL);
    log_begin(GR_LOG_DEBUG);
    gr_buffer_release_later(buffer);
    gr_resource_free(resource);
    gr_tensor_free(tensor);
    end_export(managed);
    gr_tensor_free(make_tensor(fx.stream));
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, ": closed "), managed ? 0 : 1);
    capture_graph(NULL);
    assert_ok(gr_tensor_collect(1000));
    log_end();
    ck_assert_int_eq(log_count(GR_LOG_DEBUG, ": closed "), 1);
}

/* gr.h documents that gr_buffer_release_later() fails during a capture and logs a warning. */
TEST(release_later_during_a_capture_keeps_the_mapping, TRANSPORTS)
{
    GR_AUTO(gr_resource) *resource = make(_i, GR_READ_WRITE);
    gr_buffer *buffer = must_map(resource);
    const unsigned long before = enqueued();
    capture_graph(fx.stream);
    gr_buffer_release_later(buffer);
    ck_assert_uint_eq(enqueued(), before);
    capture_graph(NULL);
    ck_assert(gr_resource_get_info(resource)->mapped);
    assert_ok(gr_resource_unmap(resource, GR_STREAM_OF_MAP));
    assert_resource_usable(resource, gr_gl_name(resource));
}
