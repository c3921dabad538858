/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The calls that use a stream: copies, fills, streams, events and captures. softcudart_twins.c
 * includes this file, so that each case also runs with the per-thread variants of its calls.
 */
#ifndef GROUP
#define GROUP "calls"
#endif
#define _GNU_SOURCE
#include "softcudart.h"

#include <stdatomic.h>
#include <unistd.h>

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define OWN NULL
#else
#define OWN cudaStreamPerThread
#endif

enum { W = 32, H = 8, D = 2, SIZE = W * H * D };

static unsigned char bytes[SIZE], back[SIZE];

/* ---- The gate -------------------------------------------------------------------------------- */

static atomic_bool is_open, was_late;
static cudaStream_t blocked;

/* Waits until the gate is open, but only for some seconds. */
static void CUDART_CB wait_at_gate(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50000 && !is_open; i++)
        usleep(100);
    was_late = !is_open;
}

static void block(cudaStream_t stream)
{
    is_open = was_late = false;
    CUDA(cudaLaunchHostFunc(stream, wait_at_gate, NULL));
}

/*
 * Blocks a stream that the legacy stream waits for. A per-thread variant that used the legacy
 * stream would wait, too.
 */
static void hold(void)
{
    CUDA(cudaStreamCreate(&blocked));
    if (!OWN)
        block(blocked);
}

static void release(void)
{
    is_open = true;
    CUDA(cudaStreamSynchronize(blocked));
    CUDA(cudaStreamDestroy(blocked));
    REQUIRE(!was_late);
}

/* ---- Copies and fills ------------------------------------------------------------------------ */

CASE(copy_bytes)
{
    static const enum cudaMemcpyKind each[2][3] = {
        {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToHost},
        {cudaMemcpyDefault, cudaMemcpyDefault, cudaMemcpyDefault}};
    void *a = NULL, *b = NULL;
    CUDA(cudaMalloc(&a, SIZE));
    CUDA(cudaMalloc(&b, SIZE));
    hold();
    for (int i = 0; i < 4; i++) {
        const enum cudaMemcpyKind *kinds = each[i % 2];
        softcudart_pattern(bytes, SIZE);
        bytes[0] = (unsigned char)i;
        if (i < 2) {
            CUDA(cudaMemcpy(a, bytes, SIZE, kinds[0]));
            CUDA(cudaMemcpy(b, a, SIZE, kinds[1]));
            CUDA(cudaMemcpy(back, b, SIZE, kinds[2]));
        } else {
            CUDA(cudaMemcpyAsync(a, bytes, SIZE, kinds[0], OWN));
            CUDA(cudaMemcpyAsync(b, a, SIZE, kinds[1], OWN));
            CUDA(cudaMemcpyAsync(back, b, SIZE, kinds[2], OWN));
            CUDA(cudaStreamSynchronize(OWN));
        }
        REQUIRE(memcmp(back, bytes, SIZE) == 0);
    }
    CUDA(cudaMemcpy(back, a, 0, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(back, bytes + 1, SIZE - 1, cudaMemcpyHostToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE - 1, 1));
    release();
}

CASE(fill_with_a_byte)
{
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, SIZE));
    const struct cudaPitchedPtr box = {memory, W, W, H};
    hold();
    CUDA(cudaMemset(memory, 0x11, SIZE));
    CUDA(cudaMemsetAsync(memory, 0x22, W, OWN));
    CUDA(cudaMemset2D(memory, W, 0x33, 4, H));
    CUDA(cudaMemset2DAsync(memory, W, 0x44, 2, H, OWN));
    CUDA(cudaMemset(memory, 1, 0));
    CUDA(cudaMemcpy(back, memory, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 0x44 && back[2] == 0x33 && back[4] == 0x22 && back[W + 4] == 0x11);
    CUDA(cudaMemset3D(box, 0x55, (struct cudaExtent){W, H, D}));
    CUDA(cudaMemset3DAsync(box, 0x66, (struct cudaExtent){1, H, D - 1}, OWN));
    CUDA(cudaMemcpy(back, memory, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 0x66 && back[W * (H - 1)] == 0x66 && back[1] == 0x55);
    REQUIRE(back[W * H] == 0x55 && back[SIZE - 1] == 0x55);
    release();
}

CASE(copy_rows)
{
    void *memory = NULL;
    size_t pitch = 0;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMallocPitch(&memory, &pitch, W, H));
    REQUIRE(pitch > W && pitch % 64 == 0);
    hold();
    CUDA(cudaMemcpy2D(memory, pitch, bytes, W, W, H, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DAsync(back, W, memory, pitch, W, H, cudaMemcpyDefault, OWN));
    CUDA(cudaStreamSynchronize(OWN));
    REQUIRE(softcudart_is_pattern(back, W * H, 0));
    release();
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2D(back, W - 1, memory, pitch, W, H, cudaMemcpyDeviceToHost));
}

static struct cudaMemcpy3DParms copy_of(struct cudaPitchedPtr to, struct cudaPitchedPtr from,
                                        enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = from;
    copy.dstPtr = to;
    copy.extent = (struct cudaExtent){W, H, D};
    copy.kind = kind;
    return copy;
}

CASE(copy_boxes)
{
    const struct cudaPitchedPtr given = {bytes, W, W, H}, seen = {back, W, W, H};
    struct cudaPitchedPtr box;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc3D(&box, (struct cudaExtent){W, H, D}));
    REQUIRE(box.pitch > W && box.xsize == W && box.ysize == H);
    struct cudaMemcpy3DParms in = copy_of(box, given, cudaMemcpyHostToDevice),
                             out = copy_of(seen, box, cudaMemcpyDeviceToHost);
    hold();
    CUDA(cudaMemcpy3D(&in));
    CUDA(cudaMemcpy3DAsync(&out, OWN));
    CUDA(cudaStreamSynchronize(OWN));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    release();
    in.kind = (enum cudaMemcpyKind)9;
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy3D(&in));
}

/* Copies in both directions between two devices or, if there is only one, within it. */
CASE(copy_between_devices)
{
    struct cudaMemcpy3DPeerParms copy;
    void *first = NULL, *second = NULL;
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    const int other = count > 1;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc(&first, SIZE));
    CUDA(cudaSetDevice(other));
    CUDA(cudaMalloc(&second, SIZE));
    CUDA(cudaSetDevice(0));
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){first, W, W, H};
    copy.dstPtr = (struct cudaPitchedPtr){second, W, W, H};
    copy.dstDevice = other;
    copy.extent = (struct cudaExtent){W, H, D};
    for (int i = 0; i < 3; i++) {
        bytes[0] = (unsigned char)i;
        CUDA(cudaMemcpy(first, bytes, SIZE, cudaMemcpyHostToDevice));
        CUDA(i == 0   ? cudaMemcpyPeer(second, other, first, 0, SIZE)
             : i == 1 ? cudaMemcpy3DPeer(&copy)
                      : cudaMemcpy3DPeerAsync(&copy, NULL));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemset(first, 0, SIZE));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpyPeerAsync(first, 0, second, other, SIZE, NULL));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaMemcpy(back, first, SIZE, cudaMemcpyDeviceToHost));
        REQUIRE(memcmp(back, bytes, SIZE) == 0);
    }
    FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(first, 99, second, other, SIZE));
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

enum { ROW = W * 4, BYTES = ROW * H / 2 }; /* of an array of 4-byte elements, half as high */

static void new_array(cudaArray_t *array, size_t depth)
{
    const struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    CUDA(cudaMalloc3DArray(array, &desc, (struct cudaExtent){W, H / 2, depth}, 0));
}

CASE(copy_rectangles_of_arrays)
{
    cudaArray_t a = NULL, b = NULL;
    softcudart_pattern(bytes, BYTES);
    new_array(&a, 0);
    new_array(&b, 0);
    hold();
    CUDA(cudaMemcpy2DToArray(a, 0, 0, bytes, ROW, ROW, H / 2, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, ROW, H / 2, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2DFromArray(back, ROW, b, 0, 0, ROW, H / 2, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, BYTES, 0));
    /* Copies 8 bytes of 2 rows, starting at byte 4 of row 1. */
    CUDA(cudaMemcpy2DFromArrayAsync(back, 8, a, 4, 1, 8, 2, cudaMemcpyDeviceToHost, OWN));
    CUDA(cudaStreamSynchronize(OWN));
    REQUIRE(softcudart_is_pattern(back, 8, ROW + 4));
    REQUIRE(softcudart_is_pattern(back + 8, 8, 2 * ROW + 4));
    /* The pitch may be 0 for a copy of one row, but not of two rows. */
    CUDA(cudaMemcpy2DToArrayAsync(b, 0, 2, bytes, 0, ROW, 1, cudaMemcpyHostToDevice, OWN));
    CUDA(cudaMemcpy2DFromArray(back, 0, b, 0, 2, ROW, 1, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, ROW, 0));
    release();
    FAILS(cudaErrorInvalidPitchValue,
          cudaMemcpy2DToArray(b, 0, 2, bytes, 0, ROW, 2, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaMemcpy2DToArray(b, 0, 2, bytes, ROW, ROW, 2, (enum cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue,
          cudaMemcpy2DFromArray(back, ROW, a, 4, 0, ROW, 1, cudaMemcpyDeviceToHost));
}

/* The older functions copy bytes that continue in the next row of the array. */
CASE(copy_across_rows_of_arrays)
{
    cudaArray_t a = NULL, b = NULL;
    softcudart_pattern(bytes, BYTES);
    new_array(&a, 0);
    new_array(&b, 0);
    hold();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CUDA(cudaMemcpyToArray(a, 0, 0, bytes, BYTES, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyFromArray(back, a, 16, 1, ROW * 2, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, ROW * 2, ROW + 16));
    CUDA(cudaMemcpyToArrayAsync(a, ROW - 4, 0, bytes, 8, cudaMemcpyHostToDevice, OWN));
    CUDA(cudaMemcpyArrayToArray(b, 4, 0, a, 0, 0, 2 * ROW, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyFromArrayAsync(back, b, 4, 0, 2 * ROW, cudaMemcpyDeviceToHost, OWN));
    CUDA(cudaStreamSynchronize(OWN));
#pragma GCC diagnostic pop
    REQUIRE(softcudart_is_pattern(back, ROW - 4, 0));
    REQUIRE(softcudart_is_pattern(back + ROW - 4, 8, 0));
    REQUIRE(softcudart_is_pattern(back + ROW + 4, ROW - 4, ROW + 4));
    release();
}

/* The width of a copy to or from an array is in elements of the array. */
CASE(copy_boxes_of_arrays)
{
    const struct cudaPitchedPtr given = {bytes, ROW, W, H / 4}, seen = {back, ROW, W, H / 4},
                                none = {NULL, 0, 0, 0};
    struct cudaMemcpy3DParms copy = copy_of(none, given, cudaMemcpyHostToDevice);
    cudaArray_t array = NULL;
    softcudart_pattern(bytes, SIZE);
    new_array(&array, D);
    copy.dstArray = array;
    copy.extent.height = H / 4;
    CUDA(cudaMemcpy3D(&copy));
    copy = copy_of(seen, none, cudaMemcpyDeviceToHost);
    copy.srcArray = array;
    copy.srcPos = (struct cudaPos){2, 1, 1};
    copy.extent = (struct cudaExtent){5, 1, 1};
    CUDA(cudaMemcpy3D(&copy));
    REQUIRE(softcudart_is_pattern(back, 20, ROW * (H / 4 + 1) + 8));
    copy.srcPtr.ptr = bytes;
    FAILS(cudaErrorInvalidValue, cudaMemcpy3D(&copy)); /* two sources */
}

/* ---- Streams and events ---------------------------------------------------------------------- */

CASE(query_streams)
{
    unsigned flags = 9;
    unsigned long long id = 0, own = 1, legacy = 0;
    int priority = 9, device = 9, least, greatest;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    cudaStream_t stream = NULL;
    CUDA(cudaStreamGetId(OWN, &id));
    CUDA(cudaStreamGetId(cudaStreamPerThread, &own));
    CUDA(cudaStreamGetId(cudaStreamLegacy, &legacy));
    REQUIRE(id == own && id != legacy);
    READS(status, cudaStreamCaptureStatusNone, cudaStreamIsCapturing(OWN, &status));
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CUDA(cudaStreamGetFlags(stream, &flags));
    CUDA(cudaStreamGetPriority(stream, &priority));
    CUDA(cudaStreamGetDevice(stream, &device));
    REQUIRE(flags == cudaStreamNonBlocking && priority == greatest && device == 0);
    CUDA(cudaStreamQuery(stream));
    CUDA(cudaStreamDestroy(stream));
    FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 0x40));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
}

/* The thread's own stream waits for an event of another stream, which the gate blocks. */
CASE(wait_for_events)
{
    cudaStream_t first = NULL;
    cudaEvent_t start = NULL, event = NULL, untimed = NULL;
    float ms = -1;
    CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CUDA(cudaEventRecord(start, OWN));
    block(first);
    CUDA(cudaEventRecord(untimed, first));
    CUDA(cudaStreamWaitEvent(OWN, untimed, 0));
    CUDA(cudaEventRecordWithFlags(event, OWN, cudaEventRecordDefault));
    REQUIRE(cudaEventQuery(event) == cudaErrorNotReady);
    REQUIRE(cudaStreamQuery(OWN) == cudaErrorNotReady);
    REQUIRE(cudaGetLastError() == cudaSuccess); /* not ready is not an error */
    is_open = true;
    CUDA(cudaEventSynchronize(event));
    CUDA(cudaStreamSynchronize(OWN));
    CUDA(cudaStreamQuery(OWN));
    CUDA(cudaEventElapsedTime(&ms, start, event));
    REQUIRE(ms >= 0 && !was_late);
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
}

static int times;
static cudaStream_t called_with;
static cudaError_t inside;

static void CUDART_CB call(void *number)
{
    times += *(int *)number;
}

static void CUDART_CB call_with_stream(cudaStream_t stream, cudaError_t status, void *number)
{
    void *memory;
    called_with = stream;
    inside = cudaMalloc(&memory, 64);
    if (status == cudaSuccess)
        call(number);
}

CASE(call_back)
{
    int one = 1;
    cudaStream_t stream = NULL;
    times = 0;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaLaunchHostFunc(OWN, call, &one));
    CUDA(cudaStreamAddCallback(OWN, call_with_stream, &one, 0));
    CUDA(cudaStreamSynchronize(OWN));
    REQUIRE(times == 2 && called_with == OWN && inside == cudaErrorNotPermitted);
    CUDA(cudaStreamAddCallback(stream, call_with_stream, &one, 0));
    CUDA(cudaStreamSynchronize(stream));
    REQUIRE(times == 3 && called_with == stream);
    FAILS(cudaErrorInvalidValue, cudaStreamAddCallback(stream, call_with_stream, &one, 1));
}

CASE(allocate_in_stream_order)
{
    void *memory = NULL, *other = NULL;
    cudaMemPool_t pool = NULL;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    hold();
    CUDA(cudaMallocAsync(&memory, SIZE, OWN));
    CUDA(cudaMallocFromPoolAsync(&other, SIZE, pool, OWN));
    CUDA(cudaMemsetAsync(memory, 0x19, SIZE, OWN));
    CUDA(cudaMemcpyAsync(other, memory, SIZE, cudaMemcpyDefault, OWN));
    CUDA(cudaMemcpyAsync(back, other, SIZE, cudaMemcpyDeviceToHost, OWN));
    CUDA(cudaFreeAsync(memory, OWN));
    CUDA(cudaFreeAsync(other, OWN));
    CUDA(cudaStreamSynchronize(OWN));
    REQUIRE(back[0] == 0x19 && back[SIZE - 1] == 0x19);
    release();
}

/* ---- Captures -------------------------------------------------------------------------------- */

CASE(capture_streams)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaGraph_t graph = NULL, captured = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    cudaGraphInstantiateParams params;
    void *memory = NULL, *extra = NULL;
    size_t count = 9;
    CUDA(cudaMalloc(&memory, SIZE));
    const struct cudaMemsetParams fill = {
        .dst = memory, .elementSize = 1, .value = 0x77, .width = SIZE, .height = 1};
    CUDA(cudaStreamBeginCapture(OWN, cudaStreamCaptureModeGlobal));
    FAILS(cudaErrorStreamCaptureUnsupported, cudaMalloc(&extra, SIZE));
    FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(OWN, &graph));
    REQUIRE(!graph && !extra);
    CUDA(cudaStreamBeginCapture(OWN, cudaStreamCaptureModeGlobal));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == cudaStreamCaptureModeGlobal);
    CUDA(cudaMalloc(&extra, SIZE));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == cudaStreamCaptureModeRelaxed);
    READS(status, cudaStreamCaptureStatusActive, cudaStreamIsCapturing(OWN, &status));
    CUDA(cudaStreamGetCaptureInfo(OWN, &status, NULL, &captured, NULL, NULL, &count));
    REQUIRE(captured && count == 0);
    CUDA(cudaGraphAddMemsetNode(&node, captured, NULL, 0, &fill));
    CUDA(
        cudaStreamUpdateCaptureDependencies(OWN, &node, NULL, 1, cudaStreamSetCaptureDependencies));
    CUDA(cudaMemcpyAsync(extra, memory, SIZE, cudaMemcpyDeviceToDevice, OWN));
    READS(graph, captured, cudaStreamEndCapture(OWN, &graph));
    memset(&params, 0, sizeof(params));
    hold();
    CUDA(cudaGraphInstantiateWithParams(&exec, graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateSuccess);
    CUDA(cudaMemset(memory, 0, SIZE));
    CUDA(cudaGraphUpload(exec, OWN));
    CUDA(cudaGraphLaunch(exec, OWN));
    CUDA(cudaMemcpy(back, extra, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 0x77 && back[SIZE - 1] == 0x77);
    release();
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

CASE(return_functions_of_the_driver)
{
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
    void *own = NULL, *legacy = NULL, *thread = NULL;
    CUDA(
        cudaGetDriverEntryPointByVersion("cuStreamQuery", &own, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSuccess && own);
    CUDA(cudaGetDriverEntryPointByVersion("cuStreamQuery", &legacy, 12000, cudaEnableLegacyStream,
                                          NULL));
    CUDA(cudaGetDriverEntryPointByVersion("cuStreamQuery", &thread, 12000,
                                          cudaEnablePerThreadDefaultStream, NULL));
    REQUIRE(legacy && thread && legacy != thread && own == (OWN ? legacy : thread));
    CUDA(
        cudaGetDriverEntryPointByVersion("cuNoSuchThing", &own, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSymbolNotFound && !own);
#ifndef REAL_CUDART /* with NULL for the name, the libcudart of NVIDIA crashes */
    FAILS(cudaErrorInvalidValue, cudaGetDriverEntryPointByVersion(NULL, &own, 12000, 0, NULL));
#endif
}
