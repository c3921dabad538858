/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream capture. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030
GROUP("capture", add_case)

static CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    CU(StreamCreate(&stream, flags));
    return stream;
}

static void begin(CUstream stream, CUstreamCaptureMode mode)
{
    DRV(cuStreamBeginCapture_v2, (stream, mode));
}

static CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;
    DRV(cuStreamEndCapture, (stream, &graph));
    return graph;
}

/* Queues nothing during the capture. Work of another stream joins through events. */
SOFT_TEST(captured_work_runs_at_each_launch)
{
    CUdeviceptr a = new_memory(), b = new_memory();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
             other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent fork = NULL, join = NULL;
    CU(EventCreate(&fork, CU_EVENT_DEFAULT));
    CU(EventCreate(&join, CU_EVENT_DEFAULT));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRV(cuMemsetD32Async, (a, 9, COUNT, stream));
    CU(EventRecord(fork, stream));
    CU(StreamWaitEvent(other, fork, 0));
    DRV(cuMemcpyDtoDAsync_v2, (b, a, SIZE, other));
    CU(EventRecord(join, other));
    DRV(cuStreamDestroy_v2, (other)); /* its work stays in the capture */
    CU(StreamWaitEvent(stream, join, 0));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    CUgraph graph = NULL, captured = NULL;
    size_t count = 0;
    DRV(cuStreamGetCaptureInfo_v3, (stream, &status, NULL, &captured, &nodes, NULL, &count));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_eq(count, 2);
    graph = end(stream);
    ck_assert_ptr_eq(graph, captured);
    expect_words(a, 0);
    count = 0;
    DRV(cuGraphGetEdges_v2, (graph, NULL, NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 2; i++) {
        CU(MemsetD8Async(b, 0, SIZE, stream));
        DRV(cuGraphLaunch, (exec, stream));
        CU(StreamSynchronize(stream));
        expect_words(b, 9);
    }
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(StreamDestroy(stream));
    CU(EventDestroy(fork));
    CU(EventDestroy(join));
    CU(MemFree(a));
    CU(MemFree(b));
}

static CUresult alloc_during_capture(CUstream stream)
{
    CUdeviceptr memory = 0;
    (void)stream;
    return DRIVER(cuMemAlloc_v2)(&memory, SIZE);
}

static CUresult synchronise(CUstream stream)
{
    return DRIVER(cuStreamSynchronize)(stream);
}

static CUresult query(CUstream stream)
{
    return DRIVER(cuStreamQuery)(stream);
}

static CUresult synchronise_context(CUstream stream)
{
    (void)stream;
    return DRIVER(cuCtxSynchronize)();
}

static CUresult use_legacy_stream(CUstream stream)
{
    (void)stream;
    return DRIVER(cuStreamSynchronize)(NULL);
}

static CUresult wait_for_uncaptured_event(CUstream stream)
{
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    CU(EventRecord(event, fx.stream));
    CUresult result = DRIVER(cuStreamWaitEvent)(stream, event, 0);
    CU(EventDestroy(event));
    return result;
}

/* Calls that a captured stream forbids. Each invalidates the capture. */
static const struct forbidden {
    CUresult (*call)(CUstream stream);
    CUstreamCaptureMode mode;
    CUresult result;
} forbidden[] = {
    {alloc_during_capture, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {alloc_during_capture, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {synchronise, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {query, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {synchronise_context, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {use_legacy_stream, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT},
    {wait_for_uncaptured_event, CU_STREAM_CAPTURE_MODE_RELAXED,
     CUDA_ERROR_STREAM_CAPTURE_ISOLATION},
};

SOFT_TEST(forbidden_calls_invalidate_a_capture)
{
    CUstream stream = new_stream(CU_STREAM_DEFAULT);
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        CUgraph graph = (CUgraph)1;
        begin(stream, forbidden[i].mode);
        ck_assert_msg(forbidden[i].call(stream) == forbidden[i].result, "row %zu", i);
        DRV(cuStreamIsCapturing, (stream, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuLaunchHostFunc, (stream, add_to, NULL));
        GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
        ck_assert_ptr_null(graph);
        CU(StreamSynchronize(stream));
    }
    CU(StreamDestroy(stream));
}

SOFT_TEST(captures_end_only_where_they_began)
{
    CUdeviceptr a = new_memory();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
             other = new_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = NULL;
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    GIVES(ERROR_ILLEGAL_STATE, cuStreamEndCapture, (stream, &graph));
    GIVES(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2,
          (NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    GIVES(ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2, (stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(EventRecord(event, stream));
    GIVES(ERROR_CAPTURED_EVENT, cuEventQuery, (event));
    CU(StreamWaitEvent(other, event, 0));
    DRV(cuMemsetD32Async, (a, 1, COUNT, other));
    GIVES(ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, (stream, &graph));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(EventRecord(event, stream));
    CU(StreamWaitEvent(other, event, 0));
    GIVES(ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture, (other, &graph));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(EventRecord(event, stream));
    GIVES(ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent, (other, event, 0));
    CU(StreamDestroy(stream)); /* ends the capture */
    CU(StreamDestroy(other));
    CU(EventDestroy(event));
    expect_words(a, 0);
    CU(MemFree(a));
}

SOFT_TEST(unsafe_calls_are_allowed_by_the_mode_of_the_thread)
{
    CUdeviceptr a = 0;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRV(cuThreadExchangeStreamCaptureMode, (&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(MemAlloc(&a, SIZE));
    DRV(cuMemsetD32Async, (a, 8, COUNT, stream));
    DRV(cuThreadExchangeStreamCaptureMode, (&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUgraph graph = end(stream);
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphLaunch, (exec, stream));
    CU(StreamSynchronize(stream));
    expect_words(a, 8);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(StreamDestroy(stream));
    CU(MemFree(a));
}
#endif
