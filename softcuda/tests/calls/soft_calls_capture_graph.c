/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream capture: the captured graphs, and captures that the program queries and changes. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030
GROUP("captured graphs", add_graph_case)

SOFT_TEST(captured_launches_become_child_graphs)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = 1;
    add_fill(g.other, NULL, g.a, 6);
    CUgraphExec exec = instantiate(g.other);
    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuGraphLaunch, (exec, fx.stream));
    GIVES(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize, (fx.stream));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuGraphLaunch, (exec, fx.stream));
    GIVES(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, (fx.stream, &graph));

    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuGraphLaunch, (exec, fx.stream));
    graph = capture_end(fx.stream);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (g.other));
    g.other = NULL;
    DRV(cuGraphGetNodes, (graph, &node, &count));
    DRV(cuGraphNodeGetType, (node, &type));
    ck_assert(count == 1 && type == CU_GRAPH_NODE_TYPE_GRAPH);
    expect_words(g.a, 0);
    run_graph(graph);
    expect_words(g.a, 6);
}

/* The program adds nodes to the graph during the capture. */
SOFT_TEST(a_capture_is_queried_and_changed)
{
    CUstream stream = fx.stream;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    cuuint64_t id = 0, later = 0;
    CUgraph graph = NULL;
    const CUgraphNode *from = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 9;
    DRV(cuStreamGetCaptureInfo_v3, (stream, &status, &id, &graph, &from, &data, &count));
    ck_assert(status == CU_STREAM_CAPTURE_STATUS_NONE && !id && !graph && count == 9);
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuStreamGetCaptureInfo_v3, (stream, &status, &id, &graph, &from, &data, &count));
    ck_assert(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && graph && count == 0);
    CUgraphNode fill = add_fill(graph, NULL, g.a, 7), other = add_fill(graph, NULL, g.b, 8);
    INVALID(cuStreamUpdateCaptureDependencies_v2, (stream, NULL, NULL, 1, 0));
    INVALID(cuStreamUpdateCaptureDependencies_v2, (stream, &fill, NULL, 1, 2));
    DRV(cuStreamUpdateCaptureDependencies_v2,
        (stream, &other, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    DRV(cuStreamUpdateCaptureDependencies_v2,
        (stream, &fill, NULL, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    DRV(cuStreamGetCaptureInfo_v3, (stream, &status, &later, NULL, &from, &data, &count));
    ck_assert(later == id && count == 2 && from[0] == other && from[1] == fill);
    ck_assert(data[0].from_port == 0 && data[1].type == 0);
    DRV(cuStreamUpdateCaptureDependencies_v2,
        (stream, &fill, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    DRV(cuStreamGetCaptureInfo_v3, (stream, &status, NULL, NULL, NULL, NULL, NULL));
    DRV(cuMemcpyDtoDAsync_v2, (g.b, g.a, SIZE, stream));
    DRV(cuStreamEndCapture, (stream, NULL));
    DRV(cuGraphAddDependencies_v2, (graph, &other, &fill, NULL, 1));
    run_graph(graph);
    expect_words(g.b, 7);
    DRV(cuGraphDestroy, (graph));
}

/* A node that the program removes from the graph makes the next captured call fail. */
SOFT_TEST(removed_nodes_are_no_dependencies)
{
    CUstreamCaptureStatus status;
    CUgraph graph = NULL;
    const CUgraphNode *from = NULL;
    capture_begin(fx.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    DRV(cuMemsetD32Async, (g.a, 1, COUNT, fx.stream));
    DRV(cuStreamGetCaptureInfo_v3, (fx.stream, &status, NULL, &graph, &from, NULL, NULL));
    DRV(cuGraphDestroyNode, (from[0]));
    INVALID(cuMemsetD32Async, (g.a, 2, COUNT, fx.stream));
    ck_assert_ptr_eq(capture_end(fx.stream), graph);
    expect_size(graph, 0, 0);
}

/* The context of a captured stream ends; other contexts are free of the capture. */
SOFT_TEST(a_capture_ends_with_its_context)
{
    CUevent event = NULL;
    CUdeviceptr memory = 0;
    CUcontext context = new_context(NULL);
    CUstream stream = new_stream(CU_STREAM_DEFAULT), forked = new_stream(CU_STREAM_NON_BLOCKING);
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    capture_begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(EventRecord(event, stream));
    CU(StreamWaitEvent(forked, event, 0));
    CU(CtxSetCurrent(fx.context));
    unsigned flags = 9;
    DRV(cuStreamGetFlags, (NULL, &flags)); /* the legacy stream of another context */
    ck_assert_uint_eq(flags, CU_STREAM_DEFAULT);
    GIVES(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2, (&memory, SIZE));
    DRV(cuCtxDestroy_v2, (context));
    CU(MemAlloc(&memory, SIZE));
    CU(MemFree(memory));
    DRV(cuCtxSynchronize, ());
}

/* In programs with a default stream per thread, NULL is a stream that can be captured. */
SOFT_TEST(per_thread_streams_are_captured)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = 0};
    unsigned char byte = 0;
    TWIN(cuStreamBeginCapture_v2, _ptsz, (NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    TWIN(cuStreamIsCapturing, _ptsz, (NULL, &status));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_result(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                  DRIVER_TWIN(cuMemcpyDtoH_v2, _ptds)(&byte, g.a, 1), "a copy that waits");
    assert_result(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  DRIVER_TWIN(cuStreamEndCapture, _ptsz)(NULL, &graph), "cuStreamEndCapture");
    TWIN(cuStreamBeginCapture_v2, _ptsz, (NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    TWIN(cuMemsetD32Async, _ptsz, (g.a, 5, COUNT, NULL));
    TWIN(cuStreamUpdateCaptureDependencies_v2, _ptsz, (NULL, NULL, NULL, 0, 0));
    TWIN(cuStreamGetCaptureInfo_v3, _ptsz, (NULL, &status, NULL, NULL, NULL, NULL, NULL));
    TWIN(cuStreamEndCapture, _ptsz, (NULL, &graph));
    TWIN(cuGraphInstantiateWithParams, _ptsz, (&g.exec, graph, &params));
    TWIN(cuGraphUpload, _ptsz, (g.exec, NULL));
    TWIN(cuGraphLaunch, _ptsz, (g.exec, NULL));
    TWIN(cuStreamSynchronize, _ptsz, (NULL));
    expect_words(g.a, 5);
    DRV(cuGraphDestroy, (graph));
}
#endif
