/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adding nodes, and reading and changing their parameters. The work of a kernel, copy, fill or host
 * function is captured from the ordinary call on a temporary stream, which checks the parameters.
 */
#include "softcuda/driver/context/context.h"
#include "softcuda/driver/graph/graph.h"
#include "softcuda/driver/graph/graph_work.h"

#include <string.h>

/* The parameters of a node of any type. */
typedef struct {
    CUgraphNodeType type;
    CUcontext context; /* NULL: the current context */
    bool is_null;      /* the caller passed no struct */
    union {
        CUDA_KERNEL_NODE_PARAMS kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS fill;
        CUDA_HOST_NODE_PARAMS host;
        CUevent event;
        CUgraph child;
    };
} parameters;

/* ---- Work of new nodes ----------------------------------------------------------------------- */

static CUresult issue_fill(const CUDA_MEMSET_NODE_PARAMS *p, CUstream stream)
{
    switch (p->elementSize) {
    case 1:
        return cuMemsetD2D8Async(p->dst, p->pitch, (unsigned char)p->value, p->width, p->height,
                                 stream);
    case 2:
        return cuMemsetD2D16Async(p->dst, p->pitch, (unsigned short)p->value, p->width, p->height,
                                  stream);
    case 4:
        return cuMemsetD2D32Async(p->dst, p->pitch, p->value, p->width, p->height, stream);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult issue(const parameters *p, CUstream stream)
{
    const CUDA_KERNEL_NODE_PARAMS *k = &p->kernel;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuLaunchKernel(k->func ? k->func : (CUfunction)(void *)k->kern, k->gridDimX,
                              k->gridDimY, k->gridDimZ, k->blockDimX, k->blockDimY, k->blockDimZ,
                              k->sharedMemBytes, stream, k->kernelParams, k->extra);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuMemcpy3DAsync_v2(&p->copy, stream);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return issue_fill(&p->fill, stream);
    default:
        return cuLaunchHostFunc(stream, p->host.fn, p->host.userData);
    }
}

/* A copy or fill of 0 bytes queues no task, so its work stays empty. */
static CUresult make_task(const parameters *p, soft_node_work *work)
{
    soft_context *context;
    SOFT_TRY(p->context ? soft_context_get(p->context, &context) : soft_check_context(&context));
    pthread_mutex_lock(&soft_lock);
    soft_stream *stream = soft_stream_open(context, SOFT_STREAM_NON_BLOCKING, 0);
    pthread_mutex_unlock(&soft_lock);
    CUresult result = stream ? soft_capture_work(stream, work) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = issue(p, stream->handle);
    if (stream) {
        SOFT_LOCK(&soft_lock);
        soft_stream_close(stream);
    }
    return result;
}

static CUresult make_work(const parameters *p, soft_node_work *work)
{
    soft_graph *child;
    *work = (soft_node_work){0};
    SOFT_FAIL_IF(p->is_null, CUDA_ERROR_INVALID_VALUE);
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        SOFT_TRY(soft_graph_get(p->child, &child));
        SOFT_TRY(soft_graph_copy(child, false, &work->child));
        work->child->is_child = true;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        work->event = p->event;
        return soft_handle_get(SOFT_KIND_EVENT, p->event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    default:
        return make_task(p, work);
    }
}

static CUresult add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *from,
                    const CUgraphEdgeData *data, size_t count, const parameters *p)
{
    soft_node *node;
    SOFT_GET(soft_graph *, graph, soft_graph_get(graph_handle, &graph));
    SOFT_FAIL_IF(!handle, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(soft_node_work, work, make_work(p, &work));
    CUresult result = soft_node_new(graph, p->type, from, data, count, &node);
    if (result != CUDA_SUCCESS) {
        soft_work_free(&work);
        return result;
    }
    node->work = work;
    *handle = node->handle;
    return CUDA_SUCCESS;
}

static CUresult change(soft_node *node, const parameters *p)
{
    static int logged;
    soft_node_work work;
    SOFT_FAIL_IF(!node || node->type != p->type, CUDA_ERROR_INVALID_VALUE);
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return soft_unsupported(&logged, "changing a child graph");
    SOFT_TRY(make_work(p, &work));
    soft_work_free(&node->work);
    node->work = work;
    return CUDA_SUCCESS;
}

static CUresult set(CUgraphNode handle, const parameters *p)
{
    SOFT_GET(soft_node *, node, soft_node_get(handle, &node));
    return change(node, p);
}

static CUresult set_in(CUgraphExec handle, CUgraphNode origin, const parameters *p)
{
    SOFT_GET(soft_graph **, exec, soft_graph_exec_get(handle, &exec));
    return change(soft_node_find(*exec, origin), p);
}

/* The work of a node of this type, in *work. */
static CUresult get(CUgraphNode handle, CUgraphNodeType type, const void *out,
                    soft_node_work **work)
{
    SOFT_GET(soft_node *, node, soft_node_get(handle, &node));
    SOFT_FAIL_IF(node->type != type || !out, CUDA_ERROR_INVALID_VALUE);
    *work = &node->work;
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

/* `made` is the list of fields of the node's parameters. */
#define NODE_ADD(name, params, made)                                                               \
    SOFT_API name(CUgraphNode *node, CUgraph graph, const CUgraphNode *from, size_t count,         \
                  SOFT_LIST params)                                                                \
    {                                                                                              \
        const parameters p = {SOFT_LIST made};                                                     \
        return add(node, graph, from, NULL, count, &p);                                            \
    }
#define NODE_SET(name, params, made)                                                               \
    SOFT_API name(CUgraphNode node, SOFT_LIST params)                                              \
    {                                                                                              \
        const parameters p = {SOFT_LIST made};                                                     \
        return set(node, &p);                                                                      \
    }
#define NODE_SET_IN(name, params, made)                                                            \
    SOFT_API name(CUgraphExec exec, CUgraphNode node, SOFT_LIST params)                            \
    {                                                                                              \
        const parameters p = {SOFT_LIST made};                                                     \
        return set_in(exec, node, &p);                                                             \
    }
/* The same for parameters in a struct. */
#define STRUCT_PARAMS(node_type, field, ctx)                                                       \
    (.type = node_type, .context = ctx, .is_null = !params,                                        \
     .field = params ? *params : *(__typeof__(params))zeros)
static const unsigned char zeros[sizeof(parameters)] __attribute__((aligned(16)));

#define KERNEL STRUCT_PARAMS(CU_GRAPH_NODE_TYPE_KERNEL, kernel, params ? params->ctx : NULL)
NODE_ADD(cuGraphAddKernelNode_v2, (const CUDA_KERNEL_NODE_PARAMS *params), KERNEL)
NODE_SET(cuGraphKernelNodeSetParams_v2, (const CUDA_KERNEL_NODE_PARAMS *params), KERNEL)
NODE_SET_IN(cuGraphExecKernelNodeSetParams_v2, (const CUDA_KERNEL_NODE_PARAMS *params), KERNEL)

#define COPY(ctx) STRUCT_PARAMS(CU_GRAPH_NODE_TYPE_MEMCPY, copy, ctx)
NODE_ADD(cuGraphAddMemcpyNode, (const CUDA_MEMCPY3D *params, CUcontext ctx), COPY(ctx))
NODE_SET(cuGraphMemcpyNodeSetParams, (const CUDA_MEMCPY3D *params), COPY(NULL))
NODE_SET_IN(cuGraphExecMemcpyNodeSetParams, (const CUDA_MEMCPY3D *params, CUcontext ctx), COPY(ctx))

#define FILL(ctx) STRUCT_PARAMS(CU_GRAPH_NODE_TYPE_MEMSET, fill, ctx)
NODE_ADD(cuGraphAddMemsetNode, (const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx), FILL(ctx))
NODE_SET(cuGraphMemsetNodeSetParams, (const CUDA_MEMSET_NODE_PARAMS *params), FILL(NULL))
NODE_SET_IN(cuGraphExecMemsetNodeSetParams, (const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx),
            FILL(ctx))

#define HOST STRUCT_PARAMS(CU_GRAPH_NODE_TYPE_HOST, host, NULL)
NODE_ADD(cuGraphAddHostNode, (const CUDA_HOST_NODE_PARAMS *params), HOST)
NODE_SET(cuGraphHostNodeSetParams, (const CUDA_HOST_NODE_PARAMS *params), HOST)
NODE_SET_IN(cuGraphExecHostNodeSetParams, (const CUDA_HOST_NODE_PARAMS *params), HOST)

#define CHILD (.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = child)
NODE_ADD(cuGraphAddChildGraphNode, (CUgraph child), CHILD)

#define RECORD (.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event)
NODE_ADD(cuGraphAddEventRecordNode, (CUevent event), RECORD)

#define WAIT (.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event)
NODE_ADD(cuGraphAddEventWaitNode, (CUevent event), WAIT)

SOFT_API cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies, size_t numDependencies)
{
    return add(phGraphNode, hGraph, dependencies, NULL, numDependencies,
               &(parameters){.type = CU_GRAPH_NODE_TYPE_EMPTY});
}

/* `answer` uses `work` and `out`. */
#define NODE_GET(name, node_type, result_type, answer)                                             \
    SOFT_API name(CUgraphNode node, result_type *out)                                              \
    {                                                                                              \
        soft_node_work *work;                                                                      \
        SOFT_TRY(get(node, node_type, out, &work));                                                \
        answer;                                                                                    \
        return CUDA_SUCCESS;                                                                       \
    }
#define DESCRIBED_BY(describe)                                                                     \
    memset(out, 0, sizeof(*out));                                                                  \
    if (work->run)                                                                                 \
    describe(work->payload, out)
NODE_GET(cuGraphKernelNodeGetParams_v2, CU_GRAPH_NODE_TYPE_KERNEL, CUDA_KERNEL_NODE_PARAMS,
         DESCRIBED_BY(soft_launch_describe))
NODE_GET(cuGraphMemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D,
         DESCRIBED_BY(soft_copy_describe))
NODE_GET(cuGraphMemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS,
         DESCRIBED_BY(soft_fill_describe))
NODE_GET(cuGraphHostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS,
         DESCRIBED_BY(soft_host_call_describe))
NODE_GET(cuGraphChildGraphNodeGetGraph, CU_GRAPH_NODE_TYPE_GRAPH, CUgraph,
         *out = work->child->handle)
NODE_GET(cuGraphEventRecordNodeGetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent,
         *out = work->event)
NODE_GET(cuGraphEventWaitNodeGetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent, *out = work->event)

/* ---- Nodes of any type ----------------------------------------------------------------------- */

#if CUDA_VERSION >= 12030
/* CUDA_ERROR_NOT_SUPPORTED, with a message, for the other types. */
static CUresult convert(CUgraphNodeParams *given, parameters *p)
{
    static int logged;
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!given, CUDA_ERROR_INVALID_VALUE);
    *p = (parameters){.type = given->type};
    switch (given->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&p->kernel, &given->kernel, sizeof(p->kernel));
        p->context = given->kernel.ctx;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        p->copy = given->memcpy.copyParams;
        p->context = given->memcpy.copyCtx;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&p->fill, &given->memset, sizeof(p->fill));
        p->context = given->memset.ctx;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_HOST:
        memcpy(&p->host, &given->host, sizeof(p->host));
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        p->child = given->graph.graph;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        p->event = given->eventRecord.event;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return CUDA_SUCCESS;
    default:
        return soft_unsupported(&logged, "a graph node of this type");
    }
}

SOFT_API cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    SOFT_GET(parameters, p, convert(nodeParams, &p));
    return add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, &p);
}

SOFT_API cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    SOFT_GET(parameters, p, convert(nodeParams, &p));
    return set(hNode, &p);
}

SOFT_API cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams *nodeParams)
{
    SOFT_GET(parameters, p, convert(nodeParams, &p));
    return set_in(hGraphExec, hNode, &p);
}
#endif
