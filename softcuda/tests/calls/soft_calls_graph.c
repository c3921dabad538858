/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs: their nodes, launches and updates. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#include <stdlib.h>
#include <unistd.h>

#if CUDA_VERSION >= 12030
GROUP("graphs", add_case)

CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    DRV(cuGraphCreate, (&graph, 0));
    return graph;
}

CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    DRV(cuGraphInstantiateWithFlags, (&exec, graph, 0));
    return exec;
}

CUdeviceptr new_memory(void)
{
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));
    CU(MemsetD8Async(memory, 0, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    return memory;
}

void expect_words(CUdeviceptr memory, unsigned value)
{
    unsigned *words = soft_bytes(memory, SIZE);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(words[i], value);
    free(words);
}

CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr to, unsigned value)
{
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = to, .elementSize = 4, .value = value, .width = COUNT, .height = 1};
    DRV(cuGraphAddMemsetNode, (&node, graph, &after, after != NULL, &params, fx.context));
    return node;
}

CUDA_MEMCPY3D copy_params(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = SIZE,
                           .Height = 1,
                           .Depth = 1};
}

CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D params = copy_params(to, from);
    DRV(cuGraphAddMemcpyNode, (&node, graph, &after, after != NULL, &params, fx.context));
    return node;
}

CUgraphNode add_empty(CUgraph graph)
{
    CUgraphNode node = NULL;
    DRV(cuGraphAddEmptyNode, (&node, graph, NULL, 0));
    return node;
}

void CUDA_CB wait_for_byte(void *flag)
{
    while (!__atomic_load_n((unsigned char *)flag, __ATOMIC_ACQUIRE))
        usleep(100);
}

void CUDA_CB add_to(void *number)
{
    ++*(unsigned *)number;
}

/* The edges, not the order of the calls, determine the order in which the nodes run. */
SOFT_TEST(a_launch_is_ordered_by_edges_and_by_its_stream)
{
    static unsigned char may_run;
    may_run = 0;
    CUdeviceptr a = new_memory(), b = new_memory(), c = new_memory();
    CUgraph graph = new_graph();
    const CUgraphNode copy = add_copy(graph, NULL, b, a), fill = add_fill(graph, NULL, a, 7);
    DRV(cuGraphAddDependencies_v2, (graph, &fill, &copy, NULL, 1));
    CUgraphExec exec = instantiate(graph);

    DRV(cuLaunchHostFunc, (fx.stream, wait_for_byte, &may_run));
    CU(MemsetD8Async(a, 1, SIZE, fx.stream)); /* before the graph, which overwrites it */
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuMemcpyDtoDAsync_v2, (c, b, SIZE, fx.stream)); /* after the graph */
    GIVES(ERROR_NOT_READY, cuStreamQuery, (fx.stream));
    /* The launch keeps what it needs. */
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    __atomic_store_n(&may_run, 1, __ATOMIC_RELEASE);
    CU(StreamSynchronize(fx.stream));
    expect_words(a, 7);
    expect_words(b, 7);
    expect_words(c, 7);
    INVALID(cuGraphLaunch, (exec, fx.stream));
    CU(MemFree(a));
    CU(MemFree(b));
    CU(MemFree(c));
}

SOFT_TEST(graphs_answer_queries_about_nodes_and_edges)
{
    CUdeviceptr a = new_memory();
    CUgraph graph = new_graph(), clone = NULL;
    const CUgraphNode first = add_fill(graph, NULL, a, 1), last = add_copy(graph, first, a, a);
    CUgraphNode nodes[3] = {0}, to[3] = {0}, found = NULL;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = 0;
    DRV(cuGraphGetNodes, (graph, NULL, &count));
    ck_assert_uint_eq(count, 2);
    count = 3;
    DRV(cuGraphGetEdges_v2, (graph, nodes, to, NULL, &count));
    ck_assert_uint_eq(count, 1);
    ck_assert(nodes[0] == first && to[0] == last && !nodes[1] && !to[2]);
    count = 3;
    DRV(cuGraphGetRootNodes, (graph, nodes, &count));
    ck_assert(count == 1 && nodes[0] == first);
    count = 3;
    DRV(cuGraphNodeGetDependencies_v2, (last, nodes, NULL, &count));
    ck_assert(count == 1 && nodes[0] == first);
    count = 3;
    DRV(cuGraphNodeGetDependentNodes_v2, (first, nodes, NULL, &count));
    ck_assert(count == 1 && nodes[0] == last);
    DRV(cuGraphNodeGetType, (last, &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_MEMCPY);

    DRV(cuGraphClone, (&clone, graph));
    DRV(cuGraphNodeFindInClone, (&found, last, clone));
    ck_assert(found && found != last);
    INVALID(cuGraphNodeFindInClone, (&found, last, graph));
    DRV(cuGraphDestroyNode, (first));
    GIVES(ERROR_INVALID_VALUE, cuGraphNodeGetType, (first, &type));
    count = 0;
    DRV(cuGraphNodeGetDependencies_v2, (last, NULL, NULL, &count));
    ck_assert_uint_eq(count, 0);
    count = 0;
    DRV(cuGraphGetNodes, (clone, NULL, &count));
    ck_assert_uint_eq(count, 2);
    DRV(cuGraphDestroy, (clone));
    DRV(cuGraphDestroy, (graph));
    CU(MemFree(a));
}

SOFT_TEST(invalid_graphs_are_refused)
{
    CUdeviceptr a = new_memory();
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode foreign = add_fill(other, NULL, a, 1), node = NULL;
    const CUgraphNode first = add_fill(graph, NULL, a, 1), last = add_fill(graph, first, a, 2);
    const CUgraphNode twice[] = {first, first};
    CUgraphExec exec = NULL;
    CUDA_MEMCPY3D outside = copy_params(a, a);
    outside.WidthInBytes = SIZE + 513;
    INVALID(cuGraphCreate, (NULL, 0));
    INVALID(cuGraphAddEmptyNode, (&node, graph, &foreign, 1));
    INVALID(cuGraphAddEmptyNode, (&node, graph, twice, 2));
    INVALID(cuGraphAddEmptyNode, (&node, graph, NULL, 1));
    INVALID(cuGraphAddMemcpyNode, (&node, graph, NULL, 0, &outside, fx.context));
    INVALID(cuGraphAddEventRecordNode, (&node, graph, NULL, 0, NULL));
    INVALID(cuGraphAddDependencies_v2, (graph, &first, &last, NULL, 1)); /* exists */
    INVALID(cuGraphAddDependencies_v2, (graph, &first, &first, NULL, 1));
    INVALID(cuGraphRemoveDependencies_v2, (graph, &last, &first, NULL, 1)); /* does not exist */
    DRV(cuGraphAddDependencies_v2, (graph, &last, &first, NULL, 1));
    INVALID(cuGraphInstantiateWithFlags, (&exec, graph, 0)); /* a cycle */
    GIVES(ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags,
          (&exec, other, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CUgraphNodeParams conditional = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddNode_v2, (&node, graph, NULL, NULL, 0, &conditional));
    ck_assert_ptr_null(node);
    DRV(cuGraphDestroy, (graph));
    INVALID(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (other));
    CU(MemFree(a));
}

SOFT_TEST(child_graphs_events_and_host_functions_run_in_graphs)
{
    unsigned calls = 0;
    CUdeviceptr a = new_memory();
    CUevent event = NULL;
    CU(EventCreate(&event, CU_EVENT_DEFAULT));
    CUgraph child = new_graph(), graph = new_graph(), embedded = NULL;
    const CUDA_HOST_NODE_PARAMS host = {.fn = add_to, .userData = &calls};
    CUDA_HOST_NODE_PARAMS has = {0};
    CUgraphNode node = NULL, before = NULL;
    DRV(cuGraphAddHostNode, (&node, child, NULL, 0, &host));
    DRV(cuGraphHostNodeGetParams, (node, &has));
    ck_assert(has.fn == add_to && has.userData == &calls);
    DRV(cuGraphAddChildGraphNode, (&before, graph, NULL, 0, child));
    DRV(cuGraphChildGraphNodeGetGraph, (before, &embedded));
    ck_assert(embedded && embedded != child);
    INVALID(cuGraphDestroy, (embedded));
    DRV(cuGraphAddChildGraphNode, (&node, graph, &before, 1, child));
    DRV(cuGraphAddEventRecordNode, (&before, graph, &node, 1, event));
    DRV(cuGraphAddEventWaitNode, (&node, graph, &before, 1, event));
    add_fill(graph, node, a, 5);
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphDestroy, (child));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(EventSynchronize(event));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(calls, 4);
    expect_words(a, 5);
    DRV(cuGraphExecDestroy, (exec));
    CU(EventDestroy(event));
    CU(MemFree(a));
}

/* ---- Edges ----------------------------------------------------------------------------------- */

SOFT_TEST(edges_have_data)
{
    CUgraph graph = new_graph(), clone = NULL;
    CUgraphNode first = add_empty(graph), second = add_empty(graph), last = NULL;
    const CUgraphNode both[] = {first, second};
    const CUgraphEdgeData data[] = {{.from_port = 1}, {.from_port = 2}};
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUgraphNode from[3] = {0}, to[3] = {0};
    CUgraphEdgeData got[3];
    size_t count = 3;
    DRV(cuGraphAddNode_v2, (&last, graph, both, data, 2, &any));
    memset(got, 0xff, sizeof(got));
    DRV(cuGraphGetEdges_v2, (graph, from, to, got, &count));
    ck_assert(count == 2 && from[0] == first && from[1] == second && !from[2]);
    ck_assert(to[0] == last && to[1] == last && !to[2]);
    ck_assert(got[0].from_port == 1 && got[1].from_port == 2 && got[2].from_port == 0);
    count = 1;
    from[1] = NULL;
    DRV(cuGraphNodeGetDependencies_v2, (last, from, got, &count));
    ck_assert(count == 1 && from[0] == first && !from[1]);
    count = 3;
    DRV(cuGraphNodeGetDependentNodes_v2, (second, to, got, &count));
    ck_assert(count == 1 && to[0] == last && got[0].from_port == 2);
    DRV(cuGraphRemoveDependencies_v2, (graph, both, (CUgraphNode[]){last, last}, NULL, 2));
    DRV(cuGraphAddDependencies_v2, (graph, &first, &last, &data[1], 1));
    DRV(cuGraphClone, (&clone, graph));
    DRV(cuGraphDestroyNode, (last));
    count = 3;
    DRV(cuGraphGetEdges_v2, (graph, from, to, NULL, &count));
    ck_assert_uint_eq(count, 0);
    count = 3;
    DRV(cuGraphGetEdges_v2, (clone, from, to, got, &count));
    ck_assert(count == 1 && got[0].from_port == 2);
    DRV(cuGraphDestroy, (clone));
    DRV(cuGraphDestroy, (graph));
}

SOFT_TEST(some_functions_are_not_supported)
{
    CUgraphNode node = NULL;
    CUgraph graph = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = SIZE};
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode, (&node, graph, NULL, 0, &params));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddMemFreeNode, (&node, graph, NULL, 0, 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphNodeSetEnabled, (NULL, node, 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphDebugDotPrint, (graph, "/dev/null", 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphExecChildGraphNodeSetParams, (NULL, node, graph));
    GIVES(ERROR_NOT_SUPPORTED, cuStreamBeginCaptureToGraph,
          (fx.stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    DRV(cuGraphDestroy, (graph));
}

/* Calls that fail, and leave a graph of two nodes with one edge as it was. */
SOFT_TEST(invalid_edges_and_queries_are_refused)
{
    CUgraph graph = new_graph(), other = new_graph(), clone = NULL;
    CUgraphNode first = add_empty(graph), last = add_empty(graph), foreign = add_empty(other);
    CUgraphNode node = NULL;
    size_t count = 1;
    DRV(cuGraphAddDependencies_v2, (graph, &first, &last, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, NULL, &last, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, &last, NULL, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, &node, &last, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, &last, &node, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, &foreign, &last, NULL, 1));
    INVALID(cuGraphAddDependencies_v2, (graph, &last, &foreign, NULL, 1));
    INVALID(cuGraphAddEmptyNode, (&node, graph, &node, 1));
    INVALID(cuGraphCreate, (&clone, 1));
    INVALID(cuGraphClone, (NULL, graph));
    INVALID(cuGraphNodeFindInClone, (&node, NULL, graph));
    INVALID(cuGraphNodeGetType, (first, NULL));
    INVALID(cuGraphGetNodes, (graph, NULL, NULL));
    INVALID(cuGraphGetEdges_v2, (graph, NULL, NULL, NULL, NULL));
    INVALID(cuGraphGetEdges_v2, (graph, &node, NULL, NULL, &count));
    INVALID(cuGraphNodeGetDependencies_v2, (last, NULL, NULL, NULL));
    INVALID(cuGraphNodeGetDependentNodes_v2, (first, NULL, NULL, NULL));
    DRV(cuGraphGetNodes, (graph, NULL, &count));
    ck_assert_uint_eq(count, 2);
    DRV(cuGraphGetEdges_v2, (graph, NULL, NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    DRV(cuGraphClone, (&clone, graph));
    INVALID(cuGraphNodeFindInClone, (NULL, first, clone));
    ck_assert_ptr_null(node);
    DRV(cuGraphDestroy, (clone));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (other));
}
#endif
