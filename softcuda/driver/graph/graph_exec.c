/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Executable graphs. A launch queues the work of all nodes on its stream, in the order of the
 * edges. Nothing runs concurrently, which CUDA allows.
 */
#include "softcuda/driver/graph/graph.h"
#include "softcuda/driver/graph/graph_work.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instantiation --------------------------------------------------------------------------- */

SOFT_API cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags)
{
    const unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                     CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    static int logged;
    SOFT_GET(soft_graph *, graph, soft_graph_get(hGraph, &graph));
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return soft_unsupported(&logged, "CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH");
    SOFT_FAIL_IF(!phGraphExec || (flags & ~known), CUDA_ERROR_INVALID_VALUE);
    soft_graph **exec = malloc(sizeof(*exec));
    SOFT_FAIL_IF(!exec, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_graph_copy(graph, true, exec);
    if (result == CUDA_SUCCESS && !(*phGraphExec = soft_handle_new(SOFT_KIND_GRAPH_EXEC, exec))) {
        soft_graph_drop(*exec);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result != CUDA_SUCCESS)
        free(exec);
    return result;
}

SOFT_API_ptsz(cuGraphInstantiateWithParams,
              (CUgraphExec * phGraphExec, CUgraph hGraph,
               CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams),
              (phGraphExec, hGraph, instantiateParams))
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!instantiateParams, CUDA_ERROR_INVALID_VALUE);
    CUresult result = cuGraphInstantiateWithFlags(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

/* The launches that still run keep the graph. */
SOFT_API cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    SOFT_TRY(soft_check_init());
    soft_graph **exec = soft_handle_drop(SOFT_KIND_GRAPH_EXEC, hGraphExec);
    SOFT_FAIL_IF(!exec, CUDA_ERROR_INVALID_VALUE);
    soft_graph_drop(*exec);
    free(exec);
    return CUDA_SUCCESS;
}

/* ---- Launch ---------------------------------------------------------------------------------- */

static CUresult queue_task(const soft_node_work *work, soft_stream *stream)
{
    if (work->run == soft_launch_run)
        soft_launch_hold(work->payload);
    CUresult result = (work->run == soft_host_call_run
                           ? soft_stream_push_copy
                           : soft_stream_push_work)(stream, work->run, work->payload, work->size);
    if (result != CUDA_SUCCESS && work->run == soft_launch_run)
        soft_launch_drop(work->payload);
    return result;
}

static CUresult queue_nodes(const soft_graph *graph, soft_stream *stream, CUstream handle)
{
    for (const soft_node *node = graph->nodes; node; node = node->next) {
        const soft_node_work *work = &node->work;
        if (work->run)
            SOFT_TRY(queue_task(work, stream));
        else if (work->child)
            SOFT_TRY(queue_nodes(work->child, stream, handle));
        else if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            SOFT_TRY(cuEventRecord(work->event, handle));
        else if (node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            SOFT_TRY(cuStreamWaitEvent(handle, work->event, CU_EVENT_WAIT_DEFAULT));
    }
    return CUDA_SUCCESS;
}

static void run_drop(void *graph)
{
    soft_graph_drop(graph);
}

/* A launch into a stream that is captured becomes a child graph. */
static CUresult capture_launch(soft_graph *graph, soft_stream *stream)
{
    soft_node_work work = {0};
    SOFT_TRY(soft_graph_copy(graph, false, &work.child));
    work.child->is_child = true;
    CUresult result = soft_capture_add(stream, CU_GRAPH_NODE_TYPE_GRAPH, &work);
    if (result != CUDA_SUCCESS)
        soft_graph_drop(work.child);
    return result;
}

SOFT_API_ptsz(cuGraphLaunch, (CUgraphExec hGraphExec, CUstream hStream), (hGraphExec, hStream))
{
    SOFT_GET(soft_graph **, exec, soft_graph_exec_get(hGraphExec, &exec));
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    if (stream->capture)
        return capture_launch(*exec, stream);
    if (!(*exec)->nodes) /* an empty graph orders nothing */
        return CUDA_SUCCESS;
    atomic_fetch_add(&(*exec)->holders, 1);
    CUresult result = queue_nodes(*exec, stream, hStream);
    CUresult dropped = soft_stream_push(stream, run_drop, *exec);
    if (dropped != CUDA_SUCCESS)
        soft_graph_drop(*exec);
    return result != CUDA_SUCCESS ? result : dropped;
}

SOFT_API_ptsz(cuGraphUpload, (CUgraphExec hGraphExec, CUstream hStream), (hGraphExec, hStream))
{
    soft_stream *stream;
    SOFT_GET(soft_graph **, exec, soft_graph_exec_get(hGraphExec, &exec));
    return soft_stream_get(hStream, &stream);
}

/* ---- Update ---------------------------------------------------------------------------------- */

static bool have_same_edges(soft_node *a, soft_node *b)
{
    if (a->edge_count != b->edge_count)
        return false;
    for (size_t i = 0; i < a->edge_count; i++) {
        size_t j = 0;
        while (j < b->edge_count && b->edges[j].from != a->edges[i].from->copy)
            j++;
        if (j == b->edge_count)
            return false;
    }
    return true;
}

/*
 * Pairs the nodes of two sorted graphs. Afterwards the handles of the old nodes name the nodes of
 * `fresh`.
 */
static CUgraphExecUpdateResult match(soft_graph *old, soft_graph *fresh, CUgraphNode *differs)
{
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    if (old->node_count != fresh->node_count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    soft_node *new_node = fresh->nodes;
    for (soft_node *node = old->nodes; node; node = node->next, new_node = new_node->next) {
        node->copy = new_node;
        *differs = new_node->origin;
        if (node->type != new_node->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (!have_same_edges(node, new_node))
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (node->work.child)
            result = match(node->work.child, new_node->work.child, differs);
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
        new_node->origin = node->origin;
    }
    *differs = NULL;
    return result;
}

SOFT_API cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo *resultInfo)
{
    soft_graph **exec, *graph, *fresh;
    SOFT_TRY(soft_graph_exec_get(hGraphExec, &exec));
    SOFT_TRY(soft_graph_get(hGraph, &graph));
    SOFT_FAIL_IF(!resultInfo, CUDA_ERROR_INVALID_VALUE);
    memset(resultInfo, 0, sizeof(*resultInfo));
    SOFT_TRY(soft_graph_copy(graph, true, &fresh));
    resultInfo->result = match(*exec, fresh, &resultInfo->errorNode);
    if (resultInfo->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) {
        soft_graph_drop(fresh);
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    soft_graph_drop(*exec);
    *exec = fresh;
    return CUDA_SUCCESS;
}
