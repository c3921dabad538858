/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs: their nodes, launches and updates. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#include <stdlib.h>
#include <unistd.h>

#if CUDA_VERSION >= 12030
GROUP("graphs", add_case)

static CUgraph new_graph(void)
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

static CUgraphNode add_fill(CUgraph graph, CUgraphNode after, CUdeviceptr to, unsigned value)
{
    CUgraphNode node = NULL;
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = to, .elementSize = 4, .value = value, .width = COUNT, .height = 1};
    DRV(cuGraphAddMemsetNode, (&node, graph, &after, after != NULL, &params, fx.context));
    return node;
}

static CUDA_MEMCPY3D copy_params(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = SIZE,
                           .Height = 1,
                           .Depth = 1};
}

static CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
    CUgraphNode node = NULL;
    const CUDA_MEMCPY3D params = copy_params(to, from);
    DRV(cuGraphAddMemcpyNode, (&node, graph, &after, after != NULL, &params, fx.context));
    return node;
}

/* Runs when the stream reaches it: waits until the test has queued all of its work. */
static void CUDA_CB wait_for_byte(void *flag)
{
    while (!*(volatile unsigned char *)flag)
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
    may_run = 1;
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

SOFT_TEST(executable_graphs_are_updated)
{
    CUdeviceptr a = new_memory(), b = new_memory();
    CUgraph graph = new_graph(), same = new_graph(), larger = new_graph();
    const CUgraphNode fill = add_fill(graph, NULL, a, 1);
    CUgraphExec exec = instantiate(graph);
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = a, .elementSize = 4, .value = 2, .width = COUNT, .height = 1};
    DRV(cuGraphExecMemsetNodeSetParams, (exec, fill, &params, fx.context));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    expect_words(a, 2);
    params.elementSize = 3;
    INVALID(cuGraphExecMemsetNodeSetParams, (exec, fill, &params, fx.context));
    DRV(cuGraphMemsetNodeGetParams, (fill, &params)); /* the graph itself has not changed */
    ck_assert(params.value == 1 && params.dst == a && params.width == COUNT);

    CUgraphExecUpdateResultInfo info;
    add_fill(same, NULL, b, 3);
    DRV(cuGraphExecUpdate_v2, (exec, same, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    expect_words(b, 3);
    add_copy(larger, add_fill(larger, NULL, a, 4), b, a);
    GIVES(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2, (exec, larger, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

    unsigned enabled = 1;
    DRV(cuGraphNodeSetEnabled, (exec, fill, 0));
    DRV(cuGraphNodeGetEnabled, (exec, fill, &enabled));
    ck_assert_uint_eq(enabled, 0);
    CU(MemsetD8Async(b, 0, SIZE, fx.stream));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    expect_words(b, 0);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (same));
    DRV(cuGraphDestroy, (larger));
    CU(MemFree(a));
    CU(MemFree(b));
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

/* The last reference to the object is a launch that has not ended. */
SOFT_TEST(destroyed_graphs_leave_nothing_behind)
{
    static unsigned char may_run;
    may_run = 0;
    unsigned destroyed = 0;
    size_t free_before = 0, free_after = 0, all = 0;
    CUuserObject object = NULL;
    CU(MemGetInfo(&free_before, &all));
    CUgraph graph = new_graph();
    DRV(cuUserObjectCreate, (&object, &destroyed, add_to, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    DRV(cuGraphRetainUserObject, (graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = fx.device}},
        .bytesize = SIZE};
    CUgraphNode node = NULL, last = NULL;
    DRV(cuGraphAddMemAllocNode, (&node, graph, NULL, 0, &memory));
    last = add_fill(graph, node, memory.dptr, 6);
    DRV(cuGraphAddMemFreeNode, (&node, graph, &last, 1, memory.dptr));
    CU(MemGetInfo(&free_after, &all));
    ck_assert_uint_eq(free_after, free_before - SIZE);
    CUgraphExec exec = instantiate(graph);
    DRV(cuLaunchHostFunc, (fx.stream, wait_for_byte, &may_run));
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    ck_assert_uint_eq(destroyed, 0);
    may_run = 1;
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(destroyed, 1);
    INVALID(cuUserObjectRetain, (object, 1));
    CU(MemGetInfo(&free_after, &all));
    ck_assert_uint_eq(free_after, free_before);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

SOFT_TEST(kernel_nodes_copy_their_parameters)
{
    CUmodule module = new_module();
    CUdeviceptr a = new_memory(), b = new_memory();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_KERNEL_NODE_PARAMS params = {.func = function_of(module, "add_counters"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1},
                            has;
    INVALID(cuGraphAddKernelNode_v2, (&node, graph, NULL, 0, &params)); /* no parameters */
    struct {
        unsigned char factor;
        double rest;
    } scale = {.factor = 3};
    CUdeviceptr target = a;
    params.kernelParams = (void *[]){&target, &scale};
    DRV(cuGraphAddKernelNode_v2, (&node, graph, NULL, 0, &params));
    target = b;
    DRV(cuGraphKernelNodeGetParams_v2, (node, &has));
    ck_assert(has.func == params.func && has.blockDimX == 1 && has.ctx == fx.context);
    ck_assert_uint_eq(*(CUdeviceptr *)has.kernelParams[0], a);
    ck_assert_mem_eq(has.kernelParams[1], &scale, sizeof(scale));
    CUgraphExec exec = instantiate(graph);
    DRV(cuGraphExecKernelNodeSetParams_v2, (exec, node, &params));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    unsigned *result = soft_bytes(b, SIZE);
    ck_assert_uint_eq(result[0], 30);
    free(result);
    expect_words(a, 0);
    params.blockDimX = 2000;
    INVALID(cuGraphExecKernelNodeSetParams_v2, (exec, node, &params));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    DRV(cuModuleUnload, (module));
    CU(MemFree(a));
    CU(MemFree(b));
}
#endif
