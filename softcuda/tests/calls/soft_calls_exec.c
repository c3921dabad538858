/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Executable graphs, and user objects, which launches keep. */
#define _GNU_SOURCE
#include "soft_calls_graph.h"

#if CUDA_VERSION >= 12030
GROUP("executable graphs", add_graph_case)

SOFT_TEST(executable_graphs_are_updated)
{
    CUgraph larger = new_graph();
    CUgraphExecUpdateResultInfo info;
    add_fill(g.graph, NULL, g.a, 1);
    g.exec = instantiate(g.graph);
    add_fill(g.other, NULL, g.b, 3);
    DRV(cuGraphExecUpdate_v2, (g.exec, g.other, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    launch_exec(g.exec);
    expect_words(g.b, 3);
    add_copy(larger, add_fill(larger, NULL, g.a, 4), g.b, g.a);
    GIVES(ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2, (g.exec, larger, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    DRV(cuGraphDestroy, (larger));
}

/* Checks the result of an update and the node that it reports, and destroys the clone. */
static void expect_update(CUgraphExecUpdateResult wanted, CUgraph clone, CUgraphNode differs)
{
    CUgraphExecUpdateResultInfo info;
    CUresult result = DRIVER(cuGraphExecUpdate_v2)(g.exec, clone, &info);
    bool updated = wanted == CU_GRAPH_EXEC_UPDATE_SUCCESS;
    ck_assert_int_eq(result, updated ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(info.result, wanted);
    if (differs || updated)
        ck_assert_ptr_eq(info.errorNode, differs);
    DRV(cuGraphDestroy, (clone));
}

static CUgraph clone_of(CUgraph graph)
{
    CUgraph clone = NULL;
    DRV(cuGraphClone, (&clone, graph));
    return clone;
}

/* The node of the clone that differs is the one that the update reports. */
SOFT_TEST(updates_need_the_same_nodes_and_edges)
{
    CUgraphNode first = add_fill(g.graph, NULL, g.a, 1), last = add_fill(g.graph, first, g.a, 2);
    add_fill(g.other, NULL, g.a, 3);
    CUgraphNode embedded = add_child(g.graph, last, g.other), copied, two[2];
    g.exec = instantiate(g.graph);
    CUgraph clone = clone_of(g.graph);
    expect_update(CU_GRAPH_EXEC_UPDATE_SUCCESS, clone, NULL);

    clone = clone_of(g.graph);
    copied = find_in_clone(last, clone);
    two[0] = find_in_clone(first, clone);
    DRV(cuGraphRemoveDependencies_v2, (clone, &two[0], &copied, NULL, 1));
    expect_update(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, clone, NULL);

    /* The last node depends on the child graph instead of the second node. */
    clone = clone_of(g.graph);
    two[0] = find_in_clone(embedded, clone);
    two[1] = find_in_clone(last, clone);
    copied = find_in_clone(first, clone);
    DRV(cuGraphRemoveDependencies_v2, (clone, &two[1], &two[0], NULL, 1));
    DRV(cuGraphAddDependencies_v2, (clone, &copied, &two[0], NULL, 1));
    expect_update(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, clone, two[0]);

    clone = clone_of(g.graph);
    CUgraph inner = NULL;
    size_t count = 1;
    DRV(cuGraphChildGraphNodeGetGraph, (find_in_clone(embedded, clone), &inner));
    DRV(cuGraphGetNodes, (inner, &copied, &count));
    DRV(cuGraphDestroyNode, (copied));
    expect_update(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, clone, add_empty(inner));
}

/* A cycle in the graph makes the update fail and leaves the executable graph as it was. */
SOFT_TEST(failed_updates_change_nothing)
{
    CUgraphNode first = add_fill(g.graph, NULL, g.a, 1), last = add_fill(g.graph, first, g.a, 2);
    g.exec = instantiate(g.graph);
    CUgraphExecUpdateResultInfo info;
    INVALID(cuGraphExecUpdate_v2, (g.exec, NULL, &info));
    INVALID(cuGraphExecUpdate_v2, (g.exec, g.graph, NULL));
    DRV(cuGraphAddDependencies_v2, (g.graph, &last, &first, NULL, 1));
    INVALID(cuGraphExecUpdate_v2, (g.exec, g.graph, &info));
    launch_exec(g.exec);
    expect_words(g.a, 2);
}

SOFT_TEST(nodes_of_child_graphs_are_changed)
{
    CUgraph embedded = NULL, clone = NULL;
    CUgraphNode inner = NULL;
    size_t count = 1;
    add_fill(g.other, NULL, g.a, 1);
    add_empty(g.graph);
    DRV(cuGraphChildGraphNodeGetGraph, (add_child(g.graph, NULL, g.other), &embedded));
    DRV(cuGraphGetNodes, (embedded, &inner, &count));
    g.exec = instantiate(g.graph);
    const CUDA_MEMSET_NODE_PARAMS params = fill_params(g.a, 5);
    DRV(cuGraphExecMemsetNodeSetParams, (g.exec, inner, &params, fx.context));
    clone = clone_of(g.graph);
    find_in_clone(inner, clone);
    DRV(cuGraphUpload, (g.exec, fx.stream));
    launch_exec(g.exec);
    expect_words(g.a, 5);
    DRV(cuGraphDestroy, (clone));
}

SOFT_TEST(instantiation_reports_its_result)
{
    CUgraphNode first = add_empty(g.graph), last = add_empty(g.graph);
    CUgraphExec none = NULL;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
                                            .hErrNode_out = first,
                                            .result_out = CUDA_GRAPH_INSTANTIATE_ERROR};
    INVALID(cuGraphInstantiateWithFlags, (NULL, g.graph, 0));
    INVALID(cuGraphInstantiateWithFlags, (&none, g.graph, 1u << 20));
    DRV(cuGraphInstantiateWithParams, (&g.exec, g.graph, &params));
    ck_assert_int_eq(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    ck_assert_ptr_null(params.hErrNode_out);
    INVALID(cuGraphInstantiateWithParams, (&none, g.graph, NULL));
    GIVES(ERROR_INVALID_HANDLE, cuGraphUpload, (g.exec, (CUstream)g.graph)); /* not a stream */
    GIVES(ERROR_INVALID_HANDLE, cuGraphLaunch, (g.exec, (CUstream)g.graph));
    DRV(cuGraphAddDependencies_v2, (g.graph, &first, &last, NULL, 1));
    DRV(cuGraphAddDependencies_v2, (g.graph, &last, &first, NULL, 1));
    INVALID(cuGraphInstantiateWithParams, (&none, g.graph, &params));
    ck_assert_int_eq(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
}

/* The event of the first node is gone, so the nodes after it do not run. */
static void expect_launch_without_event(void)
{
    add_fill(g.graph, add_child(g.graph, NULL, g.other), g.a, 1);
    g.exec = instantiate(g.graph);
    CU(EventDestroy(g.event));
    GIVES(ERROR_INVALID_HANDLE, cuGraphLaunch, (g.exec, fx.stream));
    expect_words(g.a, 0);
}

SOFT_TEST(records_without_their_event_fail)
{
    CUgraphNode node = NULL;
    DRV(cuGraphAddEventRecordNode, (&node, g.other, NULL, 0, g.event));
    expect_launch_without_event();
}

SOFT_TEST(waits_without_their_event_fail)
{
    CUgraphNode node = NULL;
    DRV(cuGraphAddEventWaitNode, (&node, g.other, NULL, 0, g.event));
    expect_launch_without_event();
}

/* ---- User objects ---------------------------------------------------------------------------- */

/* The last reference to the object is a launch that has not ended. */
SOFT_TEST(a_launch_keeps_user_objects)
{
    unsigned destroyed = 0;
    CUuserObject object = NULL;
    add_fill(g.graph, NULL, g.a, 1);
    DRV(cuUserObjectCreate, (&object, &destroyed, add_to, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    DRV(cuGraphRetainUserObject, (g.graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(g.graph);
    struct gate *gate = gate_put(fx.stream);
    DRV(cuGraphLaunch, (exec, fx.stream));
    DRV(cuGraphExecDestroy, (exec));
    DRV(cuGraphDestroy, (g.graph));
    g.graph = NULL;
    ck_assert_uint_eq(destroyed, 0);
    gate_open(gate);
    CU(StreamSynchronize(fx.stream));
    ck_assert_uint_eq(destroyed, 1);
    INVALID(cuUserObjectRetain, (object, 1));
}

SOFT_TEST(user_objects_count_references)
{
    unsigned destroyed = 0, unused = 0;
    CUuserObject object = NULL, other = NULL;
    CUgraph graph = g.graph, clone = NULL;
    const unsigned flags = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
    INVALID(cuUserObjectCreate, (NULL, &destroyed, add_to, 1, flags));
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
    g.graph = NULL;
    ck_assert_uint_eq(unused, 0);
    DRV(cuUserObjectRelease, (other, 1));
    ck_assert_uint_eq(unused, 1);
}
#endif
