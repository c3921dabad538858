/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The work of nodes: the payload of a task, an event, a child graph or memory. */
#include "softcuda/driver/graph/graph_work.h"
#include "softcuda/driver/graph/graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool soft_work_type(void (*run)(void *payload), CUgraphNodeType *type)
{
    if (run == soft_launch_run)
        *type = CU_GRAPH_NODE_TYPE_KERNEL;
    else if (run == soft_copy_run)
        *type = CU_GRAPH_NODE_TYPE_MEMCPY;
    else if (run == soft_fill_run)
        *type = CU_GRAPH_NODE_TYPE_MEMSET;
    else if (run == soft_host_call_run)
        *type = CU_GRAPH_NODE_TYPE_HOST;
    else
        return false;
    return true;
}

CUresult soft_work_copy(const soft_node_work *work, bool executable, soft_node_work *copy)
{
    soft_graph *child = NULL;
    void *payload = work->payload ? malloc(work->size) : NULL;
    if (work->payload && !payload)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (work->child)
        SOFT_TRY(soft_graph_copy(work->child, executable, &child));
    *copy = *work;
    copy->payload = payload;
    copy->child = child;
    if (child)
        child->is_child = true;
    if (payload)
        memcpy(payload, work->payload, work->size);
    if (work->run == soft_launch_run)
        soft_launch_hold(payload);
    if (work->memory)
        atomic_fetch_add(&work->memory->holders, 1);
    return CUDA_SUCCESS;
}

void soft_work_free(soft_node_work *work)
{
    if (work->run == soft_launch_run)
        soft_launch_drop(work->payload);
    free(work->payload);
    soft_graph_drop(work->child);
    soft_graph_memory_drop(work->memory);
}
