/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs and stream capture. The handles are those of the driver API. */
#include "softcuda/runtime/copy.h"
#include "softcuda/runtime/kernel.h"

#include <stdint.h>
#include <string.h>

typedef const cudaGraphNode_t *nodes; /* the nodes that a node depends on */

/* Needs no context, because the handles exist only if the driver has started. */
#define PASS(name, params, call) RT_API name params RT_BODY(rt_end(call))
/* Structs and enumerations that have the same layout in both APIs. */
#define SAME(type, pointer) ((type *)(void *)(uintptr_t)(pointer))
#define EDGES(pointer)      SAME(CUgraphEdgeData, pointer)
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData) &&
                   sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo) &&
                   sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
               "these structs must have the driver's layout");

/* ---- Graphs ---------------------------------------------------------------------------------- */

RT_FORWARD(cudaGraphCreate, (cudaGraph_t * graph, unsigned int flags), cuGraphCreate(graph, flags))

PASS(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph))
PASS(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t graph), cuGraphClone(clone, graph))
PASS(cudaGraphNodeFindInClone,
     (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone),
     cuGraphNodeFindInClone(node, original, clone))
PASS(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
     cuGraphNodeGetType(node, SAME(CUgraphNodeType, type)))
PASS(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode(node))
PASS(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *list, size_t *count),
     cuGraphGetNodes(graph, list, count))
PASS(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *list, size_t *count),
     cuGraphGetRootNodes(graph, list, count))
PASS(cudaGraphGetEdges,
     (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
      size_t *count),
     cuGraphGetEdges_v2(graph, from, to, EDGES(data), count))
PASS(cudaGraphNodeGetDependencies,
     (cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *data, size_t *count),
     cuGraphNodeGetDependencies_v2(node, list, EDGES(data), count))
PASS(cudaGraphNodeGetDependentNodes,
     (cudaGraphNode_t node, cudaGraphNode_t *list, cudaGraphEdgeData *data, size_t *count),
     cuGraphNodeGetDependentNodes_v2(node, list, EDGES(data), count))
PASS(cudaGraphAddDependencies,
     (cudaGraph_t graph, nodes from, nodes to, const cudaGraphEdgeData *data, size_t count),
     cuGraphAddDependencies_v2(graph, from, to, EDGES(data), count))
PASS(cudaGraphRemoveDependencies,
     (cudaGraph_t graph, nodes from, nodes to, const cudaGraphEdgeData *data, size_t count),
     cuGraphRemoveDependencies_v2(graph, from, to, EDGES(data), count))

/* ---- Executable graphs ----------------------------------------------------------------------- */

PASS(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
     cuGraphInstantiateWithFlags(exec, graph, flags))
PASS(cudaGraphInstantiateWithFlags,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
     cuGraphInstantiateWithFlags(exec, graph, flags))
RT_FORWARD_ptsz(cudaGraphInstantiateWithParams,
                (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
                cuGraphInstantiateWithParams(exec, graph,
                                             SAME(CUDA_GRAPH_INSTANTIATE_PARAMS, params)))
PASS(cudaGraphExecDestroy, (cudaGraphExec_t exec), cuGraphExecDestroy(exec))
RT_FORWARD_ptsz(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream),
                cuGraphLaunch(exec, rt_stream(stream)))
RT_FORWARD_ptsz(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
                cuGraphUpload(exec, rt_stream(stream)))
PASS(cudaGraphExecUpdate,
     (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
     cuGraphExecUpdate_v2(exec, graph, SAME(CUgraphExecUpdateResultInfo, info)))

/* ---- Nodes whose parameters are those of the driver ------------------------------------------ */

PASS(cudaGraphAddEmptyNode, (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count),
     cuGraphAddEmptyNode(node, graph, from, count))
PASS(cudaGraphAddChildGraphNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count, cudaGraph_t child),
     cuGraphAddChildGraphNode(node, graph, from, count, child))
PASS(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *child),
     cuGraphChildGraphNodeGetGraph(node, child))
PASS(cudaGraphAddEventRecordNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count, cudaEvent_t event),
     cuGraphAddEventRecordNode(node, graph, from, count, event))
PASS(cudaGraphAddEventWaitNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count, cudaEvent_t event),
     cuGraphAddEventWaitNode(node, graph, from, count, event))
PASS(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
     cuGraphEventRecordNodeGetEvent(node, event))
PASS(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *event),
     cuGraphEventWaitNodeGetEvent(node, event))
PASS(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *params),
     cuGraphHostNodeGetParams(node, SAME(CUDA_HOST_NODE_PARAMS, params)))

/* ---- Parameters of nodes --------------------------------------------------------------------- */

/* Begins the call of a function that has parameters to convert. */
static CUresult begin(const void *params)
{
    SOFT_TRY(rt_begin());
    return params ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult of_kernel(const struct cudaKernelNodeParams *p, CUgraphNodeParams *driver)
{
    SOFT_TRY(begin(p));
    driver->type = CU_GRAPH_NODE_TYPE_KERNEL;
    driver->kernel.gridDimX = p->gridDim.x;
    driver->kernel.gridDimY = p->gridDim.y;
    driver->kernel.gridDimZ = p->gridDim.z;
    driver->kernel.blockDimX = p->blockDim.x;
    driver->kernel.blockDimY = p->blockDim.y;
    driver->kernel.blockDimZ = p->blockDim.z;
    driver->kernel.sharedMemBytes = p->sharedMemBytes;
    driver->kernel.kernelParams = p->kernelParams;
    driver->kernel.extra = p->extra;
    return rt_function(p->func, &driver->kernel.func);
}

static CUresult of_box(const struct cudaMemcpy3DParms *p, CUgraphNodeParams *driver)
{
    SOFT_TRY(begin(p));
    driver->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    return rt_box_of(p, &driver->memcpy.copyParams);
}

static CUresult of_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                         CUgraphNodeParams *driver)
{
    CUDA_MEMCPY3D *box = &driver->memcpy.copyParams;
    SOFT_TRY(rt_begin());
    SOFT_FAIL_IF(!rt_is_kind(kind), RT_ERROR_DIRECTION);
    driver->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    *box = (CUDA_MEMCPY3D){.WidthInBytes = size, .Height = 1, .Depth = 1};
    rt_box_from(box, NULL, from, 0, kind);
    rt_box_to(box, NULL, to, 0, kind);
    return CUDA_SUCCESS;
}

static CUresult of_fill(const struct cudaMemsetParams *p, CUgraphNodeParams *driver)
{
    SOFT_TRY(begin(p));
    driver->type = CU_GRAPH_NODE_TYPE_MEMSET;
    memcpy(&driver->memset, p, sizeof(*p));
    return CUDA_SUCCESS;
}

static CUresult of_host(const struct cudaHostNodeParams *p, CUgraphNodeParams *driver)
{
    SOFT_TRY(begin(p));
    driver->type = CU_GRAPH_NODE_TYPE_HOST;
    memcpy(&driver->host, p, sizeof(*p));
    return CUDA_SUCCESS;
}

/* The parameters of the other types have the same layout in both APIs. */
static CUresult of_any(const struct cudaGraphNodeParams *p, CUgraphNodeParams *driver)
{
    SOFT_TRY(begin(p));
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return of_kernel(SAME(const struct cudaKernelNodeParams, &p->kernel), driver);
    case cudaGraphNodeTypeMemcpy:
        return of_box(&p->memcpy.copyParams, driver);
    default:
        memcpy(driver, p, sizeof(*driver));
        return CUDA_SUCCESS;
    }
}
_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams) &&
                   offsetof(struct cudaGraphNodeParams, memset) ==
                       offsetof(CUgraphNodeParams, memset),
               "cudaGraphNodeParams must have the driver's layout");

/* ---- Adding and changing nodes --------------------------------------------------------------- */

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, nodes from,
                       const cudaGraphEdgeData *data, size_t count, CUresult converted,
                       CUgraphNodeParams *driver)
{
    return rt_end(converted != CUDA_SUCCESS
                      ? converted
                      : cuGraphAddNode_v2(node, graph, from, EDGES(data), count, driver));
}

static cudaError_t set(cudaGraphNode_t node, CUresult converted, CUgraphNodeParams *driver)
{
    return rt_end(converted != CUDA_SUCCESS ? converted : cuGraphNodeSetParams(node, driver));
}

static cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, CUresult converted,
                          CUgraphNodeParams *driver)
{
    return rt_end(converted != CUDA_SUCCESS ? converted
                                            : cuGraphExecNodeSetParams(exec, node, driver));
}

/* Defines the calls that change the parameters of a node. */
#define CHANGES(set_name, set_in_name, params, convert)                                            \
    RT_API set_name(cudaGraphNode_t node, SOFT_LIST params)                                        \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        return set(node, convert, &driver);                                                        \
    }                                                                                              \
    RT_API set_in_name(cudaGraphExec_t exec, cudaGraphNode_t node, SOFT_LIST params)               \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        return set_in(exec, node, convert, &driver);                                               \
    }
/* Also defines the call that adds such a node. */
#define NODE(add_name, set_name, set_in_name, params, convert)                                     \
    RT_API add_name(cudaGraphNode_t *node, cudaGraph_t graph, nodes from, size_t count,            \
                    SOFT_LIST params)                                                              \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        return add(node, graph, from, NULL, count, convert, &driver);                              \
    }                                                                                              \
    CHANGES(set_name, set_in_name, params, convert)

NODE(cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
     (const struct cudaKernelNodeParams *params), of_kernel(params, &driver))
NODE(cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
     (const struct cudaMemcpy3DParms *params), of_box(params, &driver))
NODE(cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D,
     (void *to, const void *source, size_t size, enum cudaMemcpyKind kind),
     of_bytes(to, source, size, kind, &driver))
NODE(cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams,
     (const struct cudaMemsetParams *params), of_fill(params, &driver))
NODE(cudaGraphAddHostNode, cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams,
     (const struct cudaHostNodeParams *params), of_host(params, &driver))
CHANGES(cudaGraphNodeSetParams, cudaGraphExecNodeSetParams, (struct cudaGraphNodeParams * params),
        of_any(params, &driver))

RT_API cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, nodes from,
                        const cudaGraphEdgeData *data, size_t count,
                        struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver = {0};
    return add(node, graph, from, data, count, of_any(params, &driver), &driver);
}

/* ---- User objects ---------------------------------------------------------------------------- */

RT_FORWARD(cudaUserObjectCreate,
           (cudaUserObject_t * object, void *data, cudaHostFn_t destroy, unsigned int count,
            unsigned int flags),
           cuUserObjectCreate(object, data, destroy, count, flags))

PASS(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count),
     cuUserObjectRetain(object, count))
PASS(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count),
     cuUserObjectRelease(object, count))
PASS(cudaGraphRetainUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
     cuGraphRetainUserObject(graph, object, count, flags))
PASS(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count),
     cuGraphReleaseUserObject(graph, object, count))

/* ---- Capture --------------------------------------------------------------------------------- */

RT_FORWARD_ptsz(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
                cuStreamBeginCapture_v2(rt_stream(stream), (CUstreamCaptureMode)mode))
RT_FORWARD_ptsz(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph),
                cuStreamEndCapture(rt_stream(stream), graph))
RT_FORWARD_ptsz(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status),
                cuStreamIsCapturing(rt_stream(stream), SAME(CUstreamCaptureStatus, status)))
RT_FORWARD_ptsz(cudaStreamGetCaptureInfo,
                (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                 cudaGraph_t *graph, const cudaGraphNode_t **from, const cudaGraphEdgeData **data,
                 size_t *count),
                cuStreamGetCaptureInfo_v3(rt_stream(stream), SAME(CUstreamCaptureStatus, status),
                                          SAME(cuuint64_t, id), graph, from,
                                          SAME(const CUgraphEdgeData *, data), count))
RT_FORWARD_ptsz(cudaStreamUpdateCaptureDependencies,
                (cudaStream_t stream, cudaGraphNode_t *from, const cudaGraphEdgeData *data,
                 size_t count, unsigned int flags),
                cuStreamUpdateCaptureDependencies_v2(rt_stream(stream), from, EDGES(data), count,
                                                     flags))
RT_FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
           cuThreadExchangeStreamCaptureMode(SAME(CUstreamCaptureMode, mode)))
