/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Order between OpenGL, the other GPU and CUDA streams with the peer transport. */
#include "gl_peer.h"

#include <stdio.h>

#include <grinterop/publish.h>
#include <grinterop/tensor.h>

GROUP("order between two GPUs", TWO_GPUS)

/*
 * A default stream belongs to the context that is current at the call, here that of the computing
 * device.
 */
PEER_TEST(default_streams_belong_to_the_context_of_the_caller, 2)
{
    const CUstream stream = _i ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    GLuint name = gl_buffer_filled(SIZE, 1), source = gl_buffer_pattern(SIZE, 7);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    gl_copy_buffer(source, name, SIZE);
    fault->reset();
    gr_buffer *buffer = must_map_on(resource, stream);
    ck_assert_ptr_eq(fault->context(COPY), fx.context);
    CU(StreamSynchronize(stream));
    assert_cuda_pattern(buffer, 7);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x42, SIZE, stream));
    assert_ok(release_on(buffer, stream));
    assert_gl_bytes(name, SIZE, 0x42);
}

/*
 * CUDA works with one resource on the drawing device and with another on the other device,
 * whichever context is current.
 */
PEER_TEST(resources_on_both_devices_work_on_one_thread)
{
    const CUcontext contexts[] = {drawing.context, fx.context};
    const GLuint names[] = {gl_buffer_filled(SIZE, 1), gl_buffer_filled(SIZE, 2)};
    CUstream streams[2] = {NULL, fx.stream};
    gr_resource *resources[2];
    CU(CtxSetCurrent(drawing.context));
    CU(StreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
    resources[0] = must_register(names[0]);
    CU(CtxSetCurrent(fx.context));
    resources[1] = must_peer(names[1], GR_READ_WRITE);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 2; i++) {
            CU(CtxSetCurrent(round % 3 == 2 ? NULL : contexts[round % 3]));
            gr_buffer *buffer = must_map_on(resources[i], streams[i]);
            CU(CtxSetCurrent(contexts[i]));
            cuda_fill(buffer, 16 * i + round);
            CU(CtxSetCurrent(contexts[!i]));
            assert_ok(gr_buffer_release(buffer));
        }
        for (int i = 0; i < 2; i++)
            assert_gl_bytes(names[i], SIZE, 16 * i + round);
    }
    free_resources(resources, 2);
    CU(CtxSetCurrent(drawing.context));
    CU(StreamDestroy(streams[0]));
    CU(CtxSetCurrent(fx.context));
}

/* The driver calls of maps and releases by each transport. */
static unsigned long count_work(void)
{
    static const char *const functions[] = {"cuGraphicsMapResources",
                                            "cuGraphicsUnmapResources",
                                            "cuMemcpyHtoDAsync",
                                            "cuMemcpyDtoHAsync",
                                            COPY,
                                            WAIT,
                                            SIGNAL};
    unsigned long count = 0;
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        count += fault->calls(functions[i]);
    return count;
}

static void assert_refuses_stream(gr_resource *resource, CUstream stream, const char *device)
{
    const CUstream of_map = fx.stream;
    gr_buffer *buffer = NULL;
    assert_null_invalid(gr_map(resource, stream), device);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(count_work(), 0);
    ck_assert_ptr_eq(fault->context("cuStreamGetCtx"), fx.context);
    buffer = must_map_on(resource, of_map);
    const unsigned long work = count_work();
    ck_assert_uint_gt(work, 0);
    assert_invalid(release_on(buffer, stream), device);
    ck_assert(gr_resource_get_info(resource)->mapped);
    ck_assert_uint_eq(count_work(), work);
    assert_ok(gr_buffer_release(buffer));
    fault->reset();
}

/*
 * Tested with every transport and every current context. Catches: without a current context the
 * library queried the context of the stream from the driver, and accepted a stream for which the
 * driver returned no context.
 */
PEER_TEST(a_stream_of_the_drawing_device_is_refused, 3)
{
    static const unsigned transports[] = {GR_TRANSPORT_PEER, GR_TRANSPORT_INTEROP,
                                          GR_TRANSPORT_COPY};
    const CUcontext current[] = {fx.context, NULL, drawing.context};
    char computes[64], draws[64];
    GLuint name = gl_buffer_pattern(SIZE, 1);
    snprintf(computes, sizeof(computes), "CUDA device %d,", (int)fx.device);
    snprintf(draws, sizeof(draws), "CUDA device %d,", (int)drawing.device);
    GR_AUTO(gr_resource) *resource = must_make(gr_from_gl_buffer_with(
        name, GR_READ_WRITE, &GR_INIT(gr_gl_options, .transports = transports[_i])));
    CUstream stream;
    CU(CtxSetCurrent(drawing.context));
    CU(StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof(current) / sizeof(*current); i++) {
        CU(CtxSetCurrent(current[i]));
        fault->reset();
        assert_refuses_stream(resource, stream, computes);
        assert_refuses_stream(resource, stream, draws);
    }
    CU(StreamDestroy(stream));
    CU(CtxSetCurrent(fx.context));
    assert_mapped(resource, 1);
}

/* The map, and on a GPU also the release, return while the stream is blocked. */
PEER_TEST(calls_do_not_block_the_thread)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    struct gate *gate = gate_open_after(
        gate_put(fx.stream), 2000); /* opens late: a call that waits is detected, but still ends */
    gr_buffer *buffer = must_map(resource);
    cuda_fill(buffer, 4);
    ck_assert(!gate_is_open(gate));
    if (tested->release_waits)
        gate_open(gate);
    assert_ok(gr_buffer_release(buffer));
    ck_assert_int_eq(gate_is_open(gate), tested->release_waits);
    gate_open(gate);
    assert_gl_bytes(name, SIZE, 4);
}

/*
 * The failed map records an event, which must come after the work of the last mapping, also if the
 * copy of an earlier resource in the list failed.
 */
static void assert_map_fails(gr_resource *const both[2])
{
    gr_buffer *buffers[2] = {NULL};
    let_fail(COPY, CUDA_ERROR_UNKNOWN, 0);
    assert_fails(gr_map_many(both, 2, fx.other, NULL, buffers), GR_ERR_CUDA, CUDA_ERROR_UNKNOWN,
                 "between two GPUs");
}

/*
 * The next map, on another stream, must not overwrite bytes that a kernel of the last mapping still
 * reads. In the second run a failed map on that stream comes between the two mappings.
 */
PEER_TEST(map_waits_for_the_work_of_the_last_mapping, 2)
{
    GLuint name = gl_buffer_pattern(SIZE, 1);
    unsigned char *got[2] = {must_pin(SIZE), must_pin(SIZE)};
    GR_AUTO(gr_resource) *failing = must_peer(gl_buffer_filled(SIZE, 9), GR_READ_WRITE);
    /* with 2 staging buffers OpenGL would wait for the stream before it uses the first one again */
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = 4);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_buffer_with(name, GR_READ_ONLY, &options));
    struct gate *gate = read_behind_gate(resource, got[0], 0);
    if (_i)
        assert_map_fails((gr_resource *const[]){failing, resource});
    ck_assert(!gate_is_open(gate));
    gl_write_pattern(name, SIZE, 2);
    gate_open_after(gate, 100);
    read_on(resource, fx.other, got[1]);
    assert_two_reads(got, SIZE);
}

GROUP("order on one GPU", add_near_case)

enum { SIDE = 8, TEXELS = SIDE * SIDE * 4 };

/* Copies the array of a mapped image to pinned memory in the stream of the map, and releases. */
static void read_array(gr_buffer *buffer, unsigned char *to)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = gr_buffer_array(buffer, 0, 0),
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = to,
                                .WidthInBytes = (size_t)SIDE * 4,
                                .Height = SIDE};
    CU(Memcpy2DAsync(&copy, gr_buffer_get_info(buffer)->stream));
    assert_ok(gr_buffer_release(buffer));
}

static void assert_texels(const struct image *image, const unsigned char *got, unsigned number)
{
    unsigned char wanted[TEXELS];
    image_pattern(image->format, wanted, TEXELS, image_seed(number, 0, 0));
    ck_assert_mem_eq(got, wanted, TEXELS);
}

/* A fetch from the staging buffer, without the arrays. */
static void fetch(gr_resource *resource)
{
    static const int64_t shape[] = {SIDE, SIDE, 4};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U8, .ndim = 3, .shape = shape);
    GR_AUTO(gr_tensor) *tensor = must_make(gr_tensor_create(&desc, fx.other));
    assert_ok(gr_fetch(resource, tensor, NULL, fx.other));
}

/*
 * The mapping before last still reads the arrays, and the last one did not use them.
 *
 * Catches: that one forgot the event that the next map has to wait for.
 */
PEER_TEST(a_map_waits_for_the_last_use_of_the_arrays)
{
    const gr_gl_options options =
        GR_INIT(gr_gl_options, .transports = GR_TRANSPORT_PEER, .in_flight = 4);
    unsigned char *got[2] = {must_pin(TEXELS), must_pin(TEXELS)};
    struct image image = image_filled("RGBA8", "2D", SIDE, SIDE, 1, 1);
    GR_AUTO(gr_resource) *resource =
        must_make(gr_from_gl_image_with(image.name, GL_TEXTURE_2D, GR_READ_ONLY, &options));
    CUstream third;
    CU(StreamCreate(&third, CU_STREAM_NON_BLOCKING));
    gr_buffer *buffer = must_map_image(resource);
    struct gate *gate = gate_put(fx.stream);
    read_array(buffer, got[0]);
    fetch(resource);
    image_fill(&image, 2);
    buffer = must_make(gr_map(resource, third));
    ck_assert(!gate_is_open(gate));
    gate_open_after(gate, 100);
    read_array(buffer, got[1]);
    CU(StreamSynchronize(third));
    CU(StreamSynchronize(fx.stream));
    assert_texels(&image, got[0], 1);
    assert_texels(&image, got[1], 2);
    CU(StreamSynchronize(fx.other));
    CU(StreamDestroy(third));
    for (int i = 0; i < 2; i++)
        CU(MemFreeHost(got[i]));
}

GROUP("order", EVERY_PEER)

PEER_TEST(maps_and_releases_use_the_events_of_their_options)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_READ_WRITE);
    gr_buffer *buffer = NULL;
    CUevent before, ready, after;
    CU(EventCreate(&before, CU_EVENT_DISABLE_TIMING));
    CU(EventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    CU(EventCreate(&after, CU_EVENT_DISABLE_TIMING));
    gate_open_after(gate_put(fx.other), 30);
    CU(EventRecord(before, fx.other));
    const gr_map_options map = GR_INIT(gr_map_options, .wait_event = before, .ready_event = ready);
    assert_ok(gr_map_many(&resource, 1, fx.stream, &map, &buffer));
    CU(StreamWaitEvent(fx.other, ready, 0));
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 0x31, SIZE, fx.other));
    CU(EventRecord(after, fx.other));
    const gr_release_options release = GR_INIT(gr_release_options, .wait_event = after);
    assert_ok(gr_buffer_release_many(&buffer, 1, fx.stream, &release));
    assert_gl_bytes(name, SIZE, 0x31);
    CU(EventDestroy(before));
    CU(EventDestroy(ready));
    CU(EventDestroy(after));
}

/* The host waits for the last CUDA work with an unmapped resource. */
PEER_TEST(gr_resource_wait_returns_after_the_release)
{
    GLuint name = gl_buffer_filled(SIZE, 1);
    GR_AUTO(gr_resource) *resource = must_peer(name, GR_WRITE_DISCARD);
    for (int i = 0; i < 20; i++) {
        fill_mapped(resource, i);
        assert_ok(gr_resource_wait(resource, GR_WAIT_FOREVER));
        assert_gl_bytes(name, SIZE, i);
    }
    gr_buffer *buffer = must_map(resource);
    assert_fails(gr_resource_wait(resource, 0), GR_ERR_STATE, 0, "mapped");
    assert_ok(gr_buffer_release(buffer));
}
