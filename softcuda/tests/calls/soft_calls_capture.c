/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream capture. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#include <pthread.h>

#if CUDA_VERSION >= 12030
GROUP("capture", add_case)

CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    CU(StreamCreate(&stream, flags));
    return stream;
}

void capture_begin(CUstream stream, CUstreamCaptureMode mode)
{
    DRV(cuStreamBeginCapture_v2, (stream, mode));
}

CUgraph capture_end(CUstream stream)
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
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
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
    graph = capture_end(stream);
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

static CUresult synchronise_another(CUstream stream)
{
    (void)stream;
    return DRIVER(cuStreamSynchronize)(fx.stream);
}

static CUresult query_another(CUstream stream)
{
    (void)stream;
    return DRIVER(cuStreamQuery)(fx.stream);
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

static CUdeviceptr plain, ordered; /* for the calls below */

static CUresult free_memory(CUstream stream)
{
    (void)stream;
    return DRIVER(cuMemFree_v2)(plain);
}

static CUresult alloc_in_order(CUstream stream)
{
    CUdeviceptr memory = 0;
    return DRIVER(cuMemAllocAsync)(&memory, SIZE, stream);
}

static CUresult free_in_order(CUstream stream)
{
    return DRIVER(cuMemFreeAsync)(ordered, stream);
}

static void CUDA_CB never_called(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    (void)data;
    ck_abort_msg("called with %d", (int)status);
}

static CUresult add_callback(CUstream stream)
{
    return DRIVER(cuStreamAddCallback)(stream, never_called, NULL, 0);
}

static CUresult write_value(CUstream stream)
{
    return DRIVER(cuStreamWriteValue32_v2)(stream, plain, 1, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static CUresult query_event(CUstream stream)
{
    CUevent event = NULL;
    (void)stream;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    CUresult result = DRIVER(cuEventQuery)(event);
    ck_assert_int_eq(DRIVER(cuEventSynchronize)(event), result);
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
    {free_memory, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {query_event, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {alloc_in_order, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {free_in_order, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {add_callback, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {write_value, CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {synchronise_another, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {query_another, CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
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
    plain = new_memory();
    DRV(cuMemAllocAsync, (&ordered, SIZE, stream));
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        CUgraph graph = (CUgraph)1;
        capture_begin(stream, forbidden[i].mode);
        ck_assert_msg(forbidden[i].call(stream) == forbidden[i].result, "row %zu", i);
        DRV(cuStreamIsCapturing, (stream, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
        GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuLaunchHostFunc, (stream, add_to, NULL));
        GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
        ck_assert_ptr_null(graph);
        CU(StreamSynchronize(stream));
    }
    expect_words(plain, 0);
    DRV(cuMemFreeAsync, (ordered, stream));
    CU(MemFree(plain));
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
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    GIVES(ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2, (stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(EventRecord(event, stream));
    GIVES(ERROR_CAPTURED_EVENT, cuEventQuery, (event));
    CU(StreamWaitEvent(other, event, 0));
    DRV(cuMemsetD32Async, (a, 1, COUNT, other));
    GIVES(ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, (stream, &graph));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(EventRecord(event, stream));
    CU(StreamWaitEvent(other, event, 0));
    GIVES(ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture, (other, &graph));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    capture_begin(other, CU_STREAM_CAPTURE_MODE_GLOBAL);
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
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRV(cuThreadExchangeStreamCaptureMode, (&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(MemAlloc(&a, SIZE));
    DRV(cuMemsetD32Async, (a, 8, COUNT, stream));
    DRV(cuThreadExchangeStreamCaptureMode, (&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    CUgraph graph = capture_end(stream);
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphLaunch, (exec, stream));
    CU(StreamSynchronize(stream));
    expect_words(a, 8);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(StreamDestroy(stream));
    CU(MemFree(a));
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct in_thread {
    CUstream stream;
    bool ends;
    CUresult result;
    CUgraph graph;
};

static void *use_capture(void *arguments)
{
    struct in_thread *t = arguments;
    CUdeviceptr memory = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    DRIVER(cuCtxSetCurrent)(fx.context);
    if (t->ends) {
        t->result = DRIVER(cuStreamEndCapture)(t->stream, &t->graph);
        return NULL;
    }
    t->result = DRIVER(cuMemAlloc_v2)(&memory, SIZE);
    if (t->result != CUDA_SUCCESS)
        return NULL;
    DRIVER(cuMemFree_v2)(memory);
    DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    return NULL;
}

static CUresult in_thread(CUstream stream, bool ends, CUgraph *graph)
{
    struct in_thread t = {.stream = stream, .ends = ends};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, use_capture, &t), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    *graph = t.graph;
    return t.result;
}

/* What another thread may do, by the mode of the capture. */
static const struct other_thread {
    CUstreamCaptureMode mode;
    CUresult allocates, ends;
} other_thread[] = {
    {CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD},
    {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD},
    {CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS, CUDA_SUCCESS},
};

SOFT_TEST(modes_apply_to_other_threads)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    INVALID(cuStreamBeginCapture_v2, (stream, (CUstreamCaptureMode)3));
    for (size_t i = 0; i < sizeof(other_thread) / sizeof(*other_thread); i++) {
        const struct other_thread *row = &other_thread[i];
        CUgraph graph = NULL;
        capture_begin(stream, row->mode);
        ck_assert_int_eq(in_thread(stream, false, &graph), row->allocates);
        ck_assert_int_eq(in_thread(stream, true, &graph), row->ends);
        if (row->ends != CUDA_SUCCESS)
            assert_result(row->allocates == CUDA_SUCCESS ? CUDA_SUCCESS
                                                         : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                          DRIVER(cuStreamEndCapture)(stream, &graph), "cuStreamEndCapture");
        if (graph)
            DRV(cuGraphDestroy, (graph));
    }
    CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
    INVALID(cuThreadExchangeStreamCaptureMode, (&mode));
    CU(StreamDestroy(stream));
}

/* ---- Events ---------------------------------------------------------------------------------- */

SOFT_TEST(external_events_become_nodes)
{
    CUdeviceptr a = new_memory();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = NULL;
    CUgraphNode nodes[3] = {0};
    CUgraphNodeType first = CU_GRAPH_NODE_TYPE_EMPTY, last = first;
    size_t count = 3;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    GIVES(ERROR_ILLEGAL_STATE, cuEventRecordWithFlags, (event, stream, CU_EVENT_RECORD_EXTERNAL));
    GIVES(ERROR_ILLEGAL_STATE, cuStreamWaitEvent, (stream, event, CU_EVENT_WAIT_EXTERNAL));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuStreamWaitEvent, (stream, event, CU_EVENT_WAIT_EXTERNAL));
    DRV(cuMemsetD32Async, (a, 4, COUNT, stream));
    DRV(cuEventRecordWithFlags, (event, stream, CU_EVENT_RECORD_EXTERNAL));
    CUgraph graph = capture_end(stream);
    DRV(cuGraphGetNodes, (graph, nodes, &count));
    ck_assert_uint_eq(count, 3);
    DRV(cuGraphNodeGetType, (nodes[0], &first));
    DRV(cuGraphNodeGetType, (nodes[2], &last));
    ck_assert_int_eq(first, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    ck_assert_int_eq(last, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphLaunch, (exec, stream));
    CU(EventSynchronize(event));
    expect_words(a, 4);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(StreamDestroy(stream));
    CU(EventDestroy(event));
    CU(MemFree(a));
}

/* The result of each wait depends on the captures of the event and the stream. */
SOFT_TEST(captured_events_are_bound_to_their_capture)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
             other = new_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph = NULL;
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CU(EventRecord(event, stream));
    GIVES(ERROR_CAPTURED_EVENT, cuEventSynchronize, (event));
    GIVES(ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamWaitEvent, (NULL, event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamWaitEvent, (other, event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));

    capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CU(EventRecord(event, stream));
    graph = capture_end(stream);
    DRV(cuGraphDestroy, (graph));
    GIVES(ERROR_CAPTURED_EVENT, cuStreamWaitEvent, (other, event, 0));
    capture_begin(other, CU_STREAM_CAPTURE_MODE_RELAXED);
    GIVES(ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent, (other, event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (other, NULL));
    CU(EventRecord(event, other)); /* the event leaves the capture */
    CU(EventSynchronize(event));
    CU(StreamDestroy(stream));
    CU(StreamDestroy(other));
    CU(EventDestroy(event));
}

/* Work of another stream is joined if the origin waits for it, also if more work follows. */
SOFT_TEST(joined_streams_can_go_on)
{
    CUdeviceptr a = new_memory(), b = new_memory();
    CUstream stream = new_stream(CU_STREAM_DEFAULT), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent fork = NULL, join = NULL;
    CU(EventCreate(&fork, CU_EVENT_DEFAULT));
    CU(EventCreate(&join, CU_EVENT_DEFAULT));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CU(EventRecord(fork, stream));
    CU(StreamWaitEvent(other, fork, 0));
    DRV(cuMemsetD32Async, (a, 3, COUNT, other));
    CU(EventRecord(join, other));
    CU(StreamWaitEvent(stream, join, 0));
    CU(StreamWaitEvent(stream, join, 0)); /* adds nothing */
    DRV(cuMemcpyDtoDAsync_v2, (b, a, SIZE, stream));
    CUgraph graph = capture_end(stream);
    size_t count = 0;
    DRV(cuGraphGetEdges_v2, (graph, NULL, NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    CU(StreamSynchronize(other)); /* has left the capture */
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphLaunch, (exec, stream));
    CU(StreamSynchronize(stream));
    expect_words(b, 3);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(StreamDestroy(stream));
    CU(StreamDestroy(other));
    CU(EventDestroy(fork));
    CU(EventDestroy(join));
    CU(MemFree(a));
    CU(MemFree(b));
}
#endif
