/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs: their nodes, launches and updates. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030
GROUP("graphs", add_graph_case)

struct graph_things g;

static CUdeviceptr new_memory(void)
{
    CUdeviceptr memory = 0;
    CU(MemAlloc(&memory, SIZE));
    CU(MemsetD8Async(memory, 0, SIZE, fx.stream));
    CU(StreamSynchronize(fx.stream));
    return memory;
}

static void begin(void)
{
    if (!gr_cuda_is_software())
        return; /* all cases are skipped */
    g = (struct graph_things){.graph = new_graph(),
                              .other = new_graph(),
                              .a = new_memory(),
                              .b = new_memory(),
                              .c = new_memory()};
    CU(EventCreate(&g.event, CU_EVENT_DEFAULT));
    CU(EventCreate(&g.join, CU_EVENT_DEFAULT));
}

static void end(void)
{
    if (!gr_cuda_is_software())
        return;
    if (g.exec)
        DRV(cuGraphExecDestroy, (g.exec));
    if (g.graph)
        DRV(cuGraphDestroy, (g.graph));
    if (g.other)
        DRV(cuGraphDestroy, (g.other));
}

TCase *add_graph_case(Suite *suite, const char *name)
{
    return with_fixture(add_case(suite, name), begin, end);
}

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

void launch_exec(CUgraphExec exec)
{
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
}

void run_graph(CUgraph graph)
{
    CUgraphExec exec = instantiate(graph);
    launch_exec(exec);
    DRV(cuGraphExecDestroy, (exec));
}

void expect_words(CUdeviceptr memory, unsigned value)
{
    const unsigned *words = soft_bytes(memory, SIZE);
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(words[i], value);
}

void expect_size(CUgraph graph, size_t nodes, size_t edges)
{
    size_t count = 99;
    DRV(cuGraphGetNodes, (graph, NULL, &count));
    ck_assert_uint_eq(count, nodes);
    DRV(cuGraphGetEdges_v2, (graph, NULL, NULL, NULL, &count));
    ck_assert_uint_eq(count, edges);
}

CUgraphNode find_in_clone(CUgraphNode node, CUgraph clone)
{
    CUgraphNode found = NULL;
    DRV(cuGraphNodeFindInClone, (&found, node, clone));
    ck_assert(found && found != node);
    return found;
}

CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr to, unsigned value)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = to, .elementSize = 4, .value = value, .width = COUNT, .height = 1};
}

CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr to, unsigned value)
{
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = fill_params(to, value);
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

CUgraphNode add_child(CUgraph graph, CUgraphNode after, CUgraph child)
{
    CUgraphNode node = NULL;
    DRV(cuGraphAddChildGraphNode, (&node, graph, &after, after != NULL, child));
    return node;
}

CUgraphNode add_empty(CUgraph graph)
{
    CUgraphNode node = NULL;
    DRV(cuGraphAddEmptyNode, (&node, graph, NULL, 0));
    return node;
}

void CUDA_CB add_to(void *number)
{
    ++*(unsigned *)number;
}

/* The edges, not the order of the calls, determine the order in which the nodes run. */
SOFT_TEST(a_launch_is_ordered_by_edges_and_by_its_stream)
{
    const CUgraphNode copy = add_copy(g.graph, NULL, g.b, g.a),
                      fill = add_fill(g.graph, NULL, g.a, 7);
    DRV(cuGraphAddDependencies_v2, (g.graph, &fill, &copy, NULL, 1));
    CUgraphExec exec = instantiate(g.graph);
    struct gate *gate = gate_put(fx.stream);
    CU(MemsetD8Async(g.a, 1, SIZE, fx.stream)); /* before the graph, which overwrites it */
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuMemcpyDtoDAsync_v2, (g.c, g.b, SIZE, fx.stream)); /* after the graph */
    GIVES(ERROR_NOT_READY, cuStreamQuery, (fx.stream));
    /* The launch keeps what it needs. */
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (g.graph));
    g.graph = NULL;
    gate_open(gate);
    expect_words(g.a, 7);
    expect_words(g.b, 7);
    expect_words(g.c, 7);
    INVALID(cuGraphLaunch, (exec, fx.stream));
}

/* softcudart_graphs.c queries the nodes at both ends of an edge without data. */
SOFT_TEST(clones_and_destroyed_nodes_have_their_own_edges)
{
    const CUgraphNode first = add_fill(g.graph, NULL, g.a, 1),
                      last = add_copy(g.graph, first, g.a, g.a);
    CUgraphNode found = NULL;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph clone = NULL;
    expect_size(g.graph, 2, 1);
    READS(type, CU_GRAPH_NODE_TYPE_MEMCPY, cuGraphNodeGetType, (last, &type));
    DRV(cuGraphClone, (&clone, g.graph));
    find_in_clone(last, clone);
    INVALID(cuGraphNodeFindInClone, (&found, last, g.graph));
    DRV(cuGraphDestroyNode, (first));
    INVALID(cuGraphNodeGetType, (first, &type));
    expect_size(g.graph, 1, 0);
    expect_size(clone, 2, 1);
    DRV(cuGraphDestroy, (clone));
}

SOFT_TEST(invalid_graphs_are_refused)
{
    CUgraphNode foreign = add_fill(g.other, NULL, g.a, 1), node = NULL;
    const CUgraphNode first = add_fill(g.graph, NULL, g.a, 1),
                      last = add_fill(g.graph, first, g.a, 2), twice[] = {first, first};
    CUDA_MEMCPY3D outside = copy_params(g.a, g.a);
    outside.WidthInBytes = SIZE + 513;
    INVALID(cuGraphCreate, (NULL, 0));
    INVALID(cuGraphAddEmptyNode, (&node, g.graph, &foreign, 1));
    INVALID(cuGraphAddEmptyNode, (&node, g.graph, twice, 2));
    INVALID(cuGraphAddEmptyNode, (&node, g.graph, NULL, 1));
    INVALID(cuGraphAddMemcpyNode, (&node, g.graph, NULL, 0, &outside, fx.context));
    INVALID(cuGraphAddEventRecordNode, (&node, g.graph, NULL, 0, NULL));
    INVALID(cuGraphAddDependencies_v2, (g.graph, &first, &last, NULL, 1)); /* exists */
    INVALID(cuGraphAddDependencies_v2, (g.graph, &first, &first, NULL, 1));
    INVALID(cuGraphRemoveDependencies_v2, (g.graph, &last, &first, NULL, 1)); /* does not exist */
    DRV(cuGraphAddDependencies_v2, (g.graph, &last, &first, NULL, 1));
    INVALID(cuGraphInstantiateWithFlags, (&g.exec, g.graph, 0)); /* a cycle */
    GIVES(ERROR_NOT_SUPPORTED, cuGraphInstantiateWithFlags,
          (&g.exec, g.other, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CUgraphNodeParams conditional = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddNode_v2, (&node, g.graph, NULL, NULL, 0, &conditional));
    ck_assert(!node && !g.exec);
    DRV(cuGraphDestroy, (g.graph));
    INVALID(cuGraphDestroy, (g.graph));
    g.graph = NULL;
}

SOFT_TEST(child_graphs_events_and_host_functions_run_in_graphs)
{
    unsigned calls = 0;
    CUgraph embedded = NULL;
    const CUDA_HOST_NODE_PARAMS host = {.fn = add_to, .userData = &calls};
    CUgraphNode node = NULL, before = NULL;
    DRV(cuGraphAddHostNode, (&node, g.other, NULL, 0, &host));
    before = add_child(g.graph, NULL, g.other);
    DRV(cuGraphChildGraphNodeGetGraph, (before, &embedded));
    ck_assert(embedded && embedded != g.other);
    INVALID(cuGraphDestroy, (embedded));
    node = add_child(g.graph, before, g.other);
    DRV(cuGraphAddEventRecordNode, (&before, g.graph, &node, 1, g.event));
    DRV(cuGraphAddEventWaitNode, (&node, g.graph, &before, 1, g.event));
    add_fill(g.graph, node, g.a, 5);
    g.exec = instantiate(g.graph);
    DRV(cuGraphDestroy, (g.other));
    DRV(cuGraphDestroy, (g.graph));
    g.graph = g.other = NULL;
    DRV(cuGraphLaunch, (g.exec, fx.stream));
    DRV(cuGraphLaunch, (g.exec, fx.stream));
    CU(EventSynchronize(g.event));
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(calls, 4);
    expect_words(g.a, 5);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

SOFT_TEST(edges_have_data)
{
    CUgraph graph = g.graph, clone = NULL;
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
    expect_size(graph, 2, 0);
    count = 3;
    DRV(cuGraphGetEdges_v2, (clone, from, to, got, &count));
    ck_assert(count == 1 && got[0].from_port == 2);
    DRV(cuGraphDestroy, (clone));
}

SOFT_TEST(some_functions_are_not_supported)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = SIZE};
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode, (&node, g.graph, NULL, 0, &params));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphAddMemFreeNode, (&node, g.graph, NULL, 0, 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphNodeSetEnabled, (NULL, node, 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphDebugDotPrint, (g.graph, "/dev/null", 0));
    GIVES(ERROR_NOT_SUPPORTED, cuGraphExecChildGraphNodeSetParams, (NULL, node, g.graph));
    GIVES(ERROR_NOT_SUPPORTED, cuStreamBeginCaptureToGraph,
          (fx.stream, g.graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
}

/* Calls that fail, and leave a graph of two nodes with one edge as it was. */
SOFT_TEST(invalid_edges_and_queries_are_refused)
{
    CUgraph graph = g.graph, clone = NULL;
    CUgraphNode first = add_empty(graph), last = add_empty(graph), foreign = add_empty(g.other);
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
    expect_size(graph, 2, 1);
    DRV(cuGraphClone, (&clone, graph));
    INVALID(cuGraphNodeFindInClone, (NULL, first, clone));
    ck_assert_ptr_null(node);
    DRV(cuGraphDestroy, (clone));
}
#endif
