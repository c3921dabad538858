/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream capture. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#include <pthread.h>

#if CUDA_VERSION >= 12030
GROUP("capture", add_graph_case)

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
    DRV(cuGraphDestroy, (g.graph));
    DRV(cuStreamEndCapture, (stream, &g.graph));
    return g.graph;
}

void fork_stream(CUstream stream, CUstream other)
{
    CU(EventRecord(g.event, stream));
    CU(StreamWaitEvent(other, g.event, 0));
}

/* Queues nothing during the capture. Work of another stream joins through events. */
SOFT_TEST(captured_work_runs_at_each_launch)
{
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRV(cuMemsetD32Async, (g.a, 9, COUNT, fx.stream));
    fork_stream(fx.stream, other);
    DRV(cuMemcpyDtoDAsync_v2, (g.b, g.a, SIZE, other));
    CU(EventRecord(g.join, other));
    DRV(cuStreamDestroy_v2, (other)); /* its work stays in the capture */
    CU(StreamWaitEvent(fx.stream, g.join, 0));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    CUgraph captured = NULL;
    size_t count = 0;
    DRV(cuStreamGetCaptureInfo_v3, (fx.stream, &status, NULL, &captured, &nodes, NULL, &count));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_eq(capture_end(fx.stream), captured);
    expect_words(g.a, 0);
    expect_size(captured, 2, 1);
    g.exec = instantiate(captured);
    for (int i = 0; i < 2; i++) {
        CU(MemsetD8Async(g.b, 0, SIZE, fx.stream));
        launch_exec(g.exec);
        expect_words(g.b, 9);
    }
}

/* ---- Calls that end a capture ---------------------------------------------------------------- */

static CUdeviceptr ordered; /* allocated in stream order */

static void CUDA_CB never_called(CUstream stream, CUresult status, void *data)
{
    (void)stream;
    (void)data;
    ck_abort_msg("called with %d", (int)status);
}

static CUresult wait_for_uncaptured_event(CUstream stream)
{
    CU(EventRecord(g.event, fx.stream));
    return DRIVER(cuStreamWaitEvent)(stream, g.event, 0);
}

static CUresult query_event(void)
{
    CUresult result = DRIVER(cuEventQuery)(g.event);
    ck_assert_int_eq(DRIVER(cuEventSynchronize)(g.event), result);
    return result;
}

/*
 * X(call, mode of the capture, code): calls that a capture of `stream` forbids. Each invalidates
 * the capture.
 */
#define FORBIDDEN                                                                                  \
    X(DRIVER(cuMemAlloc_v2)(&memory, SIZE), GLOBAL, UNSUPPORTED)                                   \
    X(DRIVER(cuMemAlloc_v2)(&memory, SIZE), THREAD_LOCAL, UNSUPPORTED)                             \
    X(DRIVER(cuMemFree_v2)(g.a), GLOBAL, UNSUPPORTED)                                              \
    X(DRIVER(cuMemAllocHost_v2)(&host, SIZE), GLOBAL, UNSUPPORTED)                                 \
    X(DRIVER(cuMemFreeHost)(&host), GLOBAL, UNSUPPORTED)                                           \
    X(DRIVER(cuGraphicsMapResources)(1, &nothing, fx.stream), GLOBAL, UNSUPPORTED)                 \
    X(query_event(), GLOBAL, UNSUPPORTED)                                                          \
    X(DRIVER(cuMemAllocAsync)(&memory, SIZE, stream), RELAXED, UNSUPPORTED)                        \
    X(DRIVER(cuMemFreeAsync)(ordered, stream), RELAXED, UNSUPPORTED)                               \
    X(DRIVER(cuStreamAddCallback)(stream, never_called, NULL, 0), RELAXED, UNSUPPORTED)            \
    X(DRIVER(cuStreamWriteValue32_v2)(stream, g.a, 1, 0), RELAXED, UNSUPPORTED)                    \
    X(DRIVER(cuStreamSynchronize)(fx.stream), GLOBAL, UNSUPPORTED)                                 \
    X(DRIVER(cuStreamQuery)(fx.stream), GLOBAL, UNSUPPORTED)                                       \
    X(DRIVER(cuStreamSynchronize)(stream), RELAXED, UNSUPPORTED)                                   \
    X(DRIVER(cuStreamQuery)(stream), RELAXED, UNSUPPORTED)                                         \
    X(DRIVER(cuCtxSynchronize)(), RELAXED, UNSUPPORTED)                                            \
    X(DRIVER(cuStreamSynchronize)(NULL), RELAXED, IMPLICIT)                                        \
    X(wait_for_uncaptured_event(stream), RELAXED, ISOLATION)

SOFT_TEST(forbidden_calls_invalidate_a_capture)
{
    CUstream stream = new_stream(CU_STREAM_DEFAULT);
    CUstreamCaptureStatus status;
    CUdeviceptr memory = 0;
    CUgraph graph;
    CUgraphicsResource nothing = NULL;
    void *host = NULL;
    DRV(cuMemAllocAsync, (&ordered, SIZE, stream));
#define X(call, mode, code)                                                                        \
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_##mode);                                          \
    assert_result(CUDA_ERROR_STREAM_CAPTURE_##code, call, #call);                                  \
    DRV(cuStreamIsCapturing, (stream, &status));                                                   \
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);                                \
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuLaunchHostFunc, (stream, add_to, NULL));             \
    graph = g.graph;                                                                               \
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));                 \
    ck_assert_ptr_null(graph);                                                                     \
    CU(StreamSynchronize(stream));
    FORBIDDEN
#undef X
    expect_words(g.a, 0);
    ck_assert_uint_eq(memory, 0);
    DRV(cuMemFreeAsync, (ordered, stream));
}

SOFT_TEST(captures_end_only_where_they_began)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING),
             other = new_stream(CU_STREAM_NON_BLOCKING);
    const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUgraph graph = NULL;
    GIVES(ERROR_ILLEGAL_STATE, cuStreamEndCapture, (stream, &graph));
    GIVES(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture_v2, (NULL, global));
    capture_begin(stream, global);
    GIVES(ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2, (stream, global));
    fork_stream(stream, other);
    GIVES(ERROR_CAPTURED_EVENT, cuEventQuery, (g.event));
    DRV(cuMemsetD32Async, (g.a, 1, COUNT, other));
    GIVES(ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture, (stream, &graph));
    capture_begin(stream, global);
    fork_stream(stream, other);
    GIVES(ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture, (other, &graph));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (stream, &graph));
    capture_begin(stream, global);
    capture_begin(other, global);
    CU(EventRecord(g.event, stream));
    GIVES(ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent, (other, g.event, 0));
    CU(StreamDestroy(stream)); /* ends the capture */
    CU(StreamDestroy(other));
    expect_words(g.a, 0);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static CUresult allocated, ended;

/* Allocates memory, then ends the capture of fx.stream. */
static void *use_capture(void *graph)
{
    CUdeviceptr memory = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    DRIVER(cuCtxSetCurrent)(fx.context);
    allocated = DRIVER(cuMemAlloc_v2)(&memory, SIZE);
    DRIVER(cuMemFree_v2)(memory);
    DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    ended = DRIVER(cuStreamEndCapture)(fx.stream, graph);
    return NULL;
}

/* What another thread may do, by the mode of the capture, and how the capture then ends. */
static const struct {
    CUstreamCaptureMode mode;
    CUresult allocates, ends, after;
} other_thread[] = {
    {CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED},
    {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_SUCCESS, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
     CUDA_SUCCESS},
    {CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS, CUDA_SUCCESS, CUDA_ERROR_ILLEGAL_STATE},
};

SOFT_TEST(modes_apply_to_other_threads)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
    INVALID(cuStreamBeginCapture_v2, (fx.stream, mode));
    for (size_t i = 0; i < sizeof(other_thread) / sizeof(*other_thread); i++) {
        CUgraph graph = NULL, own = NULL;
        pthread_t thread;
        capture_begin(fx.stream, other_thread[i].mode);
        ck_assert_int_eq(pthread_create(&thread, NULL, use_capture, &graph), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_int_eq(allocated, other_thread[i].allocates);
        ck_assert_int_eq(ended, other_thread[i].ends);
        assert_result(other_thread[i].after, DRIVER(cuStreamEndCapture)(fx.stream, &own),
                      "cuStreamEndCapture");
        if (graph)
            DRV(cuGraphDestroy, (graph));
        if (own)
            DRV(cuGraphDestroy, (own));
    }
    INVALID(cuThreadExchangeStreamCaptureMode, (&mode));
}

/* ---- Events ---------------------------------------------------------------------------------- */

SOFT_TEST(external_events_become_nodes)
{
    const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_MEMSET,
                                     CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    CUgraphNode nodes[3] = {0};
    size_t count = 3;
    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuStreamWaitEvent, (fx.stream, g.event, CU_EVENT_WAIT_EXTERNAL));
    DRV(cuMemsetD32Async, (g.a, 4, COUNT, fx.stream));
    DRV(cuEventRecordWithFlags, (g.event, fx.stream, CU_EVENT_RECORD_EXTERNAL));
    CUgraph graph = capture_end(fx.stream);
    DRV(cuGraphGetNodes, (graph, nodes, &count));
    ck_assert_uint_eq(count, 3);
    for (int i = 0; i < 3; i++) {
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
        READS(type, types[i], cuGraphNodeGetType, (nodes[i], &type));
    }
    g.exec = instantiate(graph);
    DRV(cuGraphLaunch, (g.exec, fx.stream));
    CU(EventSynchronize(g.event));
    expect_words(g.a, 4);
}

/* The result of each wait depends on the captures of the event and the stream. */
SOFT_TEST(captured_events_are_bound_to_their_capture)
{
    CUgraph graph = NULL;
    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CU(EventRecord(g.event, fx.stream));
    GIVES(ERROR_CAPTURED_EVENT, cuEventSynchronize, (g.event));
    GIVES(ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamWaitEvent, (NULL, g.event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamWaitEvent, (fx.other, g.event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (fx.stream, &graph));

    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    CU(EventRecord(g.event, fx.stream));
    capture_end(fx.stream);
    DRV(cuGraphDestroy, (g.graph));
    g.graph = NULL;
    GIVES(ERROR_CAPTURED_EVENT, cuStreamWaitEvent, (fx.other, g.event, 0));
    capture_begin(fx.other, CU_STREAM_CAPTURE_MODE_RELAXED);
    GIVES(ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent, (fx.other, g.event, 0));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (fx.other, NULL));
    CU(EventRecord(g.event, fx.other)); /* the event leaves the capture */
    CU(EventSynchronize(g.event));
}

/* Work of another stream is joined if the origin waits for it, also if more work follows. */
SOFT_TEST(joined_streams_can_go_on)
{
    CUstream stream = new_stream(CU_STREAM_DEFAULT);
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    fork_stream(stream, fx.other);
    DRV(cuMemsetD32Async, (g.a, 3, COUNT, fx.other));
    CU(EventRecord(g.join, fx.other));
    CU(StreamWaitEvent(stream, g.join, 0));
    CU(StreamWaitEvent(stream, g.join, 0)); /* adds nothing */
    DRV(cuMemcpyDtoDAsync_v2, (g.b, g.a, SIZE, stream));
    expect_size(capture_end(stream), 2, 1);
    CU(StreamSynchronize(fx.other)); /* has left the capture */
    run_graph(g.graph);
    expect_words(g.b, 3);
}
#endif
