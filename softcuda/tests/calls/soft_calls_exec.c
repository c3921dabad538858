/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executable graphs, and user objects, which launches keep. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030
GROUP("executable graphs", add_case)

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

    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (same));
    DRV(cuGraphDestroy, (larger));
    CU(MemFree(a));
    CU(MemFree(b));
}

static CUgraphExecUpdateResult update(CUgraphExec exec, CUgraph graph, CUgraphNode *differs)
{
    CUgraphExecUpdateResultInfo info;
    CUresult result = DRIVER(cuGraphExecUpdate_v2)(exec, graph, &info);
    bool updated = info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS;
    ck_assert_int_eq(result, updated ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    *differs = info.errorNode;
    return info.result;
}

/* The node of the clone that differs is the one that the update reports. */
SOFT_TEST(updates_need_the_same_nodes_and_edges)
{
    CUgraph child = new_graph(), graph = new_graph(), clone = NULL;
    CUdeviceptr a = new_memory();
    CUgraphNode first = add_fill(graph, NULL, a, 1), last = add_fill(graph, first, a, 2);
    CUgraphNode embedded = NULL, copied = NULL, differs = NULL, two[2] = {0};
    add_fill(child, NULL, a, 3);
    DRV(cuGraphAddChildGraphNode, (&embedded, graph, &last, 1, child));
    CUgraphExec exec = instantiate(graph);

    DRV(cuGraphClone, (&clone, graph));
    ck_assert_int_eq(update(exec, clone, &differs), CU_GRAPH_EXEC_UPDATE_SUCCESS);
    ck_assert_ptr_null(differs);
    DRV(cuGraphNodeFindInClone, (&copied, last, clone));
    DRV(cuGraphNodeFindInClone, (&two[0], first, clone));
    DRV(cuGraphRemoveDependencies_v2, (clone, &two[0], &copied, NULL, 1));
    ck_assert_int_eq(update(exec, clone, &differs), CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    DRV(cuGraphDestroy, (clone));

    /* The last node depends on the child graph instead of the second node. */
    DRV(cuGraphClone, (&clone, graph));
    DRV(cuGraphNodeFindInClone, (&two[0], embedded, clone));
    DRV(cuGraphNodeFindInClone, (&two[1], last, clone));
    DRV(cuGraphRemoveDependencies_v2, (clone, &two[1], &two[0], NULL, 1));
    DRV(cuGraphNodeFindInClone, (&copied, first, clone));
    DRV(cuGraphAddDependencies_v2, (clone, &copied, &two[0], NULL, 1));
    ck_assert_int_eq(update(exec, clone, &differs), CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    ck_assert_ptr_eq(differs, two[0]);
    DRV(cuGraphDestroy, (clone));

    DRV(cuGraphClone, (&clone, graph));
    CUgraph inner = NULL;
    DRV(cuGraphNodeFindInClone, (&copied, embedded, clone));
    DRV(cuGraphChildGraphNodeGetGraph, (copied, &inner));
    size_t count = 1;
    DRV(cuGraphGetNodes, (inner, &copied, &count));
    DRV(cuGraphDestroyNode, (copied));
    copied = add_empty(inner);
    ck_assert_int_eq(update(exec, clone, &differs), CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    ck_assert_ptr_eq(differs, copied);
    DRV(cuGraphDestroy, (clone));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (child));
    CU(MemFree(a));
}

/* A cycle in the graph makes the update fail and leaves the executable graph as it was. */
SOFT_TEST(failed_updates_change_nothing)
{
    CUgraph graph = new_graph();
    CUdeviceptr a = new_memory();
    CUgraphNode first = add_fill(graph, NULL, a, 1), last = add_fill(graph, first, a, 2);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResultInfo info;
    INVALID(cuGraphExecUpdate_v2, (exec, NULL, &info));
    INVALID(cuGraphExecUpdate_v2, (exec, graph, NULL));
    DRV(cuGraphAddDependencies_v2, (graph, &last, &first, NULL, 1));
    INVALID(cuGraphExecUpdate_v2, (exec, graph, &info));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    expect_words(a, 2);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    CU(MemFree(a));
}

SOFT_TEST(nodes_of_child_graphs_are_changed)
{
    CUgraph child = new_graph(), graph = new_graph(), embedded = NULL, clone = NULL;
    CUdeviceptr a = new_memory();
    CUgraphNode node = NULL, inner = NULL, found = NULL;
    size_t count = 1;
    add_fill(child, NULL, a, 1);
    add_empty(graph);
    DRV(cuGraphAddChildGraphNode, (&node, graph, NULL, 0, child));
    DRV(cuGraphChildGraphNodeGetGraph, (node, &embedded));
    DRV(cuGraphGetNodes, (embedded, &inner, &count));
    CUgraphExec exec = instantiate(graph);
    const CUDA_MEMSET_NODE_PARAMS params = {
        .dst = a, .elementSize = 4, .value = 5, .width = COUNT, .height = 1};
    DRV(cuGraphExecMemsetNodeSetParams, (exec, inner, &params, fx.context));
    DRV(cuGraphClone, (&clone, graph));
    DRV(cuGraphNodeFindInClone, (&found, inner, clone));
    ck_assert(found && found != inner);
    DRV(cuGraphUpload, (exec, fx.stream));
    DRV(cuGraphLaunch, (exec, fx.stream));
    CU(StreamSynchronize(fx.stream));
    expect_words(a, 5);
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (clone));
    DRV(cuGraphDestroy, (graph));
    DRV(cuGraphDestroy, (child));
    CU(MemFree(a));
}

SOFT_TEST(instantiation_reports_its_result)
{
    CUgraph graph = new_graph();
    CUgraphNode first = add_empty(graph), last = add_empty(graph);
    CUgraphExec exec = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hErrNode_out = first,
                                            .result_out = CUDA_GRAPH_INSTANTIATE_ERROR};
    INVALID(cuGraphInstantiateWithFlags, (NULL, graph, 0));
    INVALID(cuGraphInstantiateWithFlags, (&exec, graph, 1u << 20));
    DRV(cuGraphInstantiateWithParams, (&exec, graph, &params));
    ck_assert_int_eq(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    ck_assert_ptr_null(params.hErrNode_out);
    INVALID(cuGraphInstantiateWithParams, (&exec, graph, NULL));
    GIVES(ERROR_INVALID_HANDLE, cuGraphUpload, (exec, (CUstream)graph)); /* not a stream */
    GIVES(ERROR_INVALID_HANDLE, cuGraphLaunch, (exec, (CUstream)graph));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphAddDependencies_v2, (graph, &first, &last, NULL, 1));
    DRV(cuGraphAddDependencies_v2, (graph, &last, &first, NULL, 1));
    INVALID(cuGraphInstantiateWithParams, (&exec, graph, &params));
    ck_assert_int_eq(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    DRV(cuGraphDestroy, (graph));
}

/* The event of the first node is gone, so the nodes after it do not run. */
SOFT_TEST(launches_without_their_event_fail)
{
    CUdeviceptr a = new_memory();
    for (int waits = 0; waits < 2; waits++) {
        CUgraph child = new_graph(), graph = new_graph();
        CUgraphNode node = NULL;
        CUevent event = NULL;
        CU(EventCreate(&event, CU_EVENT_DEFAULT));
        if (waits)
            DRV(cuGraphAddEventWaitNode, (&node, child, NULL, 0, event));
        else
            DRV(cuGraphAddEventRecordNode, (&node, child, NULL, 0, event));
        DRV(cuGraphAddChildGraphNode, (&node, graph, NULL, 0, child));
        add_fill(graph, node, a, 1);
        CUgraphExec exec = instantiate(graph);
        CU(EventDestroy(event));
        GIVES(ERROR_INVALID_HANDLE, cuGraphLaunch, (exec, fx.stream));
        CU(StreamSynchronize(fx.stream));
        expect_words(a, 0);
        DRV(cuGraphExecDestroy, (exec));
        DRV(cuGraphDestroy, (graph));
        DRV(cuGraphDestroy, (child));
    }
    CU(MemFree(a));
}

/* ---- User objects ---------------------------------------------------------------------------- */

/* The last reference to the object is a launch that has not ended. */
SOFT_TEST(a_launch_keeps_user_objects)
{
    static unsigned char may_run;
    may_run = 0;
    unsigned destroyed = 0;
    CUuserObject object = NULL;
    CUdeviceptr a = new_memory();
    CUgraph graph = new_graph();
    add_fill(graph, NULL, a, 1);
    DRV(cuUserObjectCreate, (&object, &destroyed, add_to, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    DRV(cuGraphRetainUserObject, (graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(graph);
    DRV(cuLaunchHostFunc, (fx.stream, wait_for_byte, &may_run));
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (graph));
    ck_assert_uint_eq(destroyed, 0);
    __atomic_store_n(&may_run, 1, __ATOMIC_RELEASE);
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(destroyed, 1);
    INVALID(cuUserObjectRetain, (object, 1));
    CU(MemFree(a));
}

SOFT_TEST(user_objects_count_references)
{
    unsigned destroyed = 0, unused = 0;
    CUuserObject object = NULL, other = NULL;
    CUgraph graph = new_graph(), clone = NULL;
    const unsigned flags = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
    INVALID(cuUserObjectCreate, (&object, &destroyed, NULL, 1, flags));
    INVALID(cuUserObjectCreate, (&object, &destroyed, add_to, 0, flags));
    INVALID(cuUserObjectCreate, (&object, &destroyed, add_to, 1u << 31, flags));
    INVALID(cuUserObjectCreate, (&object, &destroyed, add_to, 1, 0));
    DRV(cuUserObjectCreate, (&object, &destroyed, add_to, 1, flags));
    DRV(cuUserObjectCreate, (&other, &unused, add_to, 2, flags));
    INVALID(cuUserObjectRetain, (object, 0));
    INVALID(cuUserObjectRetain, (object, 1u << 31));
    INVALID(cuUserObjectRelease, (object, 2));
    INVALID(cuGraphRetainUserObject, (graph, object, 0, 0));
    INVALID(cuGraphRetainUserObject, (graph, object, 1, 2));
    INVALID(cuGraphReleaseUserObject, (graph, object, 1)); /* the graph has none */
    DRV(cuUserObjectRetain, (object, 2));
    DRV(cuUserObjectRelease, (object, 2));
    DRV(cuGraphRetainUserObject, (graph, object, 1, 0));
    DRV(cuGraphRetainUserObject, (graph, other, 1, CU_GRAPH_USER_OBJECT_MOVE));
    DRV(cuGraphRetainUserObject, (graph, object, 1, 0));
    DRV(cuUserObjectRelease, (object, 1)); /* now only the graph has references, two */
    INVALID(cuGraphReleaseUserObject, (graph, object, 3));
    DRV(cuGraphReleaseUserObject, (graph, object, 1));
    DRV(cuGraphClone, (&clone, graph));
    DRV(cuGraphReleaseUserObject, (graph, object, 1));
    INVALID(cuGraphReleaseUserObject, (graph, object, 1));
    ck_assert_uint_eq(destroyed, 0);
    DRV(cuGraphDestroy, (clone));
    ck_assert_uint_eq(destroyed, 1);
    DRV(cuGraphDestroy, (graph));
    ck_assert_uint_eq(unused, 0);
    DRV(cuUserObjectRelease, (other, 1));
    ck_assert_uint_eq(unused, 1);
}
#endif
