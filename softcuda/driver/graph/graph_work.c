/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The work of nodes: the payload of a task, an event, or a child graph. */
#include "softcuda/driver/graph/graph_work.h"
#include "softcuda/driver/graph/graph.h"

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
    *copy = (soft_node_work){.event = work->event};
    if (work->child) {
        SOFT_TRY(soft_graph_copy(work->child, executable, &copy->child));
        copy->child->is_child = true;
    }
    if (!work->run)
        return CUDA_SUCCESS;
    if (!(copy->payload = malloc(work->size)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    copy->run = work->run;
    copy->size = work->size;
    memcpy(copy->payload, work->payload, work->size);
    if (work->run == soft_launch_run)
        soft_launch_hold(copy->payload);
    return CUDA_SUCCESS;
}

void soft_work_free(soft_node_work *work)
{
    if (work->run == soft_launch_run)
        soft_launch_drop(work->payload);
    free(work->payload);
    soft_graph_drop(work->child);
}
