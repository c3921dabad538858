/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs and stream capture. The handles are those of the driver API. */
#include "softcuda/runtime/copy.h"
#include "softcuda/runtime/kernel.h"

#include <stdint.h>
#include <string.h>

typedef const cudaGraphNode_t *nodes; /* the nodes that a node depends on */

/* Defines a function that only calls the driver. */
#define PASS(name, params, call)                                                                   \
    RT_API name params                                                                             \
    {                                                                                              \
        return RT_IN_CONTEXT(call);                                                                \
    }
#define PASS_ptsz(name, params, args, call)                                                        \
    RT_API_ptsz(name, params, args)                                                                \
    {                                                                                              \
        return RT_IN_CONTEXT(call);                                                                \
    }
/* Structs and enumerations that have the same layout in both APIs. */
#define SAME(type, pointer) ((type *)(void *)(uintptr_t)(pointer))
#define EDGES(pointer)      SAME(CUgraphEdgeData, pointer)
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData) &&
                   sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo) &&
                   sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) &&
                   sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "these structs must have the driver's layout");

/* ---- Graphs ---------------------------------------------------------------------------------- */

PASS(cudaGraphCreate, (cudaGraph_t * graph, unsigned int flags), cuGraphCreate(graph, flags))
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
PASS(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
     cuGraphDebugDotPrint(graph, path, flags))

/* ---- Executable graphs ----------------------------------------------------------------------- */

PASS(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
     cuGraphInstantiateWithFlags(exec, graph, flags))
PASS(cudaGraphInstantiateWithFlags,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
     cuGraphInstantiateWithFlags(exec, graph, flags))
PASS_ptsz(cudaGraphInstantiateWithParams,
          (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params),
          (exec, graph, params),
          cuGraphInstantiateWithParams(exec, graph, SAME(CUDA_GRAPH_INSTANTIATE_PARAMS, params)))
    PASS(cudaGraphExecDestroy, (cudaGraphExec_t exec),
         cuGraphExecDestroy(exec)) PASS(cudaGraphExecGetFlags,
                                        (cudaGraphExec_t exec, unsigned long long *flags),
                                        cuGraphExecGetFlags(exec, SAME(cuuint64_t, flags)))
        PASS_ptsz(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream),
                  cuGraphLaunch(exec, rt_stream(stream)))
            PASS_ptsz(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream),
                      cuGraphUpload(exec, rt_stream(stream)))
                PASS(cudaGraphExecUpdate,
                     (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
                     cuGraphExecUpdate_v2(exec, graph, SAME(CUgraphExecUpdateResultInfo, info)))
                    PASS(cudaGraphNodeSetEnabled,
                         (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled),
                         cuGraphNodeSetEnabled(exec, node, enabled))
                        PASS(cudaGraphNodeGetEnabled,
                             (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled),
                             cuGraphNodeGetEnabled(exec, node, enabled))

    /* ---- Nodes whose parameters are those of the driver
       ------------------------------------------ */

    PASS(cudaGraphAddEmptyNode,
         (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count),
         cuGraphAddEmptyNode(node, graph, from,
                             count)) PASS(cudaGraphAddChildGraphNode,
                                          (cudaGraphNode_t * node, cudaGraph_t graph, nodes from,
                                           size_t count, cudaGraph_t child),
                                          cuGraphAddChildGraphNode(node, graph, from, count, child))
        PASS(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *child),
             cuGraphChildGraphNodeGetGraph(
                 node, child)) PASS(cudaGraphExecChildGraphNodeSetParams,
                                    (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
                                    cuGraphExecChildGraphNodeSetParams(exec, node, child))
#define EVENT_NODE(kind)                                                                           \
    PASS(cudaGraphAdd##kind##Node,                                                                 \
         (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count, cudaEvent_t event), \
         cuGraphAdd##kind##Node(node, graph, from, count, event))                                  \
    PASS(cudaGraph##kind##NodeGetEvent, (cudaGraphNode_t node, cudaEvent_t * event),               \
         cuGraph##kind##NodeGetEvent(node, event))                                                 \
    PASS(cudaGraph##kind##NodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),                 \
         cuGraph##kind##NodeSetEvent(node, event))                                                 \
    PASS(cudaGraphExec##kind##NodeSetEvent,                                                        \
         (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),                          \
         cuGraphExec##kind##NodeSetEvent(exec, node, event))
            EVENT_NODE(EventRecord) EVENT_NODE(EventWait)
#define HOST(params) SAME(CUDA_HOST_NODE_PARAMS, params)
                PASS(cudaGraphAddHostNode,
                     (cudaGraphNode_t * node, cudaGraph_t graph, nodes from, size_t count,
                      const struct cudaHostNodeParams *params),
                     cuGraphAddHostNode(node, graph, from, count, HOST(params)))
                    PASS(cudaGraphHostNodeGetParams,
                         (cudaGraphNode_t node, struct cudaHostNodeParams *params),
                         cuGraphHostNodeGetParams(
                             node, HOST(params))) PASS(cudaGraphHostNodeSetParams,
                                                       (cudaGraphNode_t node,
                                                        const struct cudaHostNodeParams *params),
                                                       cuGraphHostNodeSetParams(node, HOST(params)))
                        PASS(cudaGraphExecHostNodeSetParams,
                             (cudaGraphExec_t exec, cudaGraphNode_t node,
                              const struct cudaHostNodeParams *params),
                             cuGraphExecHostNodeSetParams(exec, node, HOST(params)))
                            PASS(
                                cudaGraphAddMemAllocNode,
                                (cudaGraphNode_t * node, cudaGraph_t graph, nodes from,
                                 size_t count, struct cudaMemAllocNodeParams *params),
                                cuGraphAddMemAllocNode(node, graph, from, count,
                                                       SAME(CUDA_MEM_ALLOC_NODE_PARAMS, params)))
                                PASS(cudaGraphMemAllocNodeGetParams,
                                     (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params),
                                     cuGraphMemAllocNodeGetParams(node,
                                                                  SAME(CUDA_MEM_ALLOC_NODE_PARAMS,
                                                                       params)))
                                    PASS(cudaGraphAddMemFreeNode,
                                         (cudaGraphNode_t * node, cudaGraph_t graph, nodes from,
                                          size_t count, void *memory),
                                         cuGraphAddMemFreeNode(node, graph, from, count,
                                                               (CUdeviceptr)(uintptr_t)memory))
                                        PASS(cudaGraphMemFreeNodeGetParams,
                                             (cudaGraphNode_t node, void *memory),
                                             cuGraphMemFreeNodeGetParams(node, memory))
                                            PASS(cudaDeviceGraphMemTrim, (int device),
                                                 cuDeviceGraphMemTrim(device))
                                                PASS(cudaDeviceGetGraphMemAttribute,
                                                     (int device,
                                                      enum cudaGraphMemAttributeType attribute,
                                                      void *value),
                                                     cuDeviceGetGraphMemAttribute(
                                                         device, (CUgraphMem_attribute)attribute,
                                                         value))
                                                    PASS(cudaDeviceSetGraphMemAttribute,
                                                         (int device,
                                                          enum cudaGraphMemAttributeType attribute,
                                                          void *value),
                                                         cuDeviceSetGraphMemAttribute(
                                                             device,
                                                             (CUgraphMem_attribute)attribute,
                                                             value))

    /* ---- Kernels, copies and fills
       --------------------------------------------------------------- */

    static CUresult of_kernel(const struct cudaKernelNodeParams *p, CUgraphNodeParams *driver)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
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
    driver->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    return rt_box_of(p, &driver->memcpy.copyParams);
}

static CUresult of_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                         CUgraphNodeParams *driver)
{
    CUDA_MEMCPY3D *box = &driver->memcpy.copyParams;
    if (!rt_is_kind(kind))
        return RT_ERROR_DIRECTION;
    driver->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    *box = (CUDA_MEMCPY3D){.WidthInBytes = size, .Height = 1, .Depth = 1};
    rt_box_from(box, NULL, from, 0, kind);
    rt_box_to(box, NULL, to, 0, kind);
    return CUDA_SUCCESS;
}

static CUresult of_fill(const struct cudaMemsetParams *p, CUgraphNodeParams *driver)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    driver->type = CU_GRAPH_NODE_TYPE_MEMSET;
    memcpy(&driver->memset, p, sizeof(*p));
    return CUDA_SUCCESS;
}

/* Defines the calls that add a node of this kind and set its parameters. */
#define CONVERTED(add, set, set_in, params, convert)                                               \
    RT_API add(cudaGraphNode_t *node, cudaGraph_t graph, nodes from, size_t count,                 \
               SOFT_LIST params)                                                                   \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        CUresult converted = RT_STARTED_AS(convert);                                               \
        return rt_end(converted != CUDA_SUCCESS                                                    \
                          ? converted                                                              \
                          : cuGraphAddNode_v2(node, graph, from, NULL, count, &driver));           \
    }                                                                                              \
    RT_API set(cudaGraphNode_t node, SOFT_LIST params)                                             \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        CUresult converted = RT_STARTED_AS(convert);                                               \
        return rt_end(converted != CUDA_SUCCESS ? converted                                        \
                                                : cuGraphNodeSetParams(node, &driver));            \
    }                                                                                              \
    RT_API set_in(cudaGraphExec_t exec, cudaGraphNode_t node, SOFT_LIST params)                    \
    {                                                                                              \
        CUgraphNodeParams driver = {0};                                                            \
        CUresult converted = RT_STARTED_AS(convert);                                               \
        return rt_end(converted != CUDA_SUCCESS ? converted                                        \
                                                : cuGraphExecNodeSetParams(exec, node, &driver));  \
    }
#define RT_STARTED_AS(call) ((rt_begun = rt_begin()) != CUDA_SUCCESS ? rt_begun : (call))

CONVERTED(cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
          (const struct cudaKernelNodeParams *params), of_kernel(params, &driver))
CONVERTED(cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
          (const struct cudaMemcpy3DParms *params), of_box(params, &driver))
CONVERTED(cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D,
          cudaGraphExecMemcpyNodeSetParams1D,
          (void *to, const void *source, size_t size, enum cudaMemcpyKind kind),
          of_bytes(to, source, size, kind, &driver))
CONVERTED(cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams,
          (const struct cudaMemsetParams *params), of_fill(params, &driver))

/* ---- Nodes of any type ----------------------------------------------------------------------- */

/* The parameters of the other types have the same layout in both APIs. */
static CUresult of_any(const struct cudaGraphNodeParams *p, CUgraphNodeParams *driver)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
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
                   offsetof(struct cudaGraphNodeParams, free) == offsetof(CUgraphNodeParams, free),
               "cudaGraphNodeParams must have the driver's layout");

RT_API cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, nodes from,
                        const cudaGraphEdgeData *data, size_t count,
                        struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver = {0};
    CUresult result = RT_STARTED_AS(of_any(params, &driver));
    if (result == CUDA_SUCCESS)
        result = cuGraphAddNode_v2(node, graph, from, EDGES(data), count, &driver);
    if (result == CUDA_SUCCESS && params->type == cudaGraphNodeTypeMemAlloc)
        params->alloc.dptr = (void *)(uintptr_t)driver.alloc.dptr;
    return rt_end(result);
}

RT_API cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver = {0};
    CUresult converted = RT_STARTED_AS(of_any(params, &driver));
    return rt_end(converted != CUDA_SUCCESS ? converted : cuGraphNodeSetParams(node, &driver));
}

RT_API cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                  struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver = {0};
    CUresult converted = RT_STARTED_AS(of_any(params, &driver));
    return rt_end(converted != CUDA_SUCCESS ? converted
                                            : cuGraphExecNodeSetParams(exec, node, &driver));
}

/* ---- User objects ---------------------------------------------------------------------------- */

PASS(cudaUserObjectCreate,
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

PASS_ptsz(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
          (stream, mode), cuStreamBeginCapture_v2(rt_stream(stream), (CUstreamCaptureMode)mode))
    PASS_ptsz(cudaStreamBeginCaptureToGraph,
              (cudaStream_t stream, cudaGraph_t graph, nodes from, const cudaGraphEdgeData *data,
               size_t count, enum cudaStreamCaptureMode mode),
              (stream, graph, from, data, count, mode),
              cuStreamBeginCaptureToGraph(rt_stream(stream), graph, from, EDGES(data), count,
                                          (CUstreamCaptureMode)mode))
        PASS_ptsz(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph), (stream, graph),
                  cuStreamEndCapture(rt_stream(stream), graph))
            PASS_ptsz(cudaStreamIsCapturing,
                      (cudaStream_t stream, enum cudaStreamCaptureStatus *status), (stream, status),
                      cuStreamIsCapturing(rt_stream(stream), SAME(CUstreamCaptureStatus, status)))
                PASS_ptsz(cudaStreamGetCaptureInfo,
                          (cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                           unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **from,
                           const cudaGraphEdgeData **data, size_t *count),
                          (stream, status, id, graph, from, data, count),
                          cuStreamGetCaptureInfo_v3(rt_stream(stream),
                                                    SAME(CUstreamCaptureStatus, status),
                                                    SAME(cuuint64_t, id), graph, from,
                                                    SAME(const CUgraphEdgeData *, data), count))
                    PASS_ptsz(cudaStreamUpdateCaptureDependencies,
                              (cudaStream_t stream, cudaGraphNode_t *from,
                               const cudaGraphEdgeData *data, size_t count, unsigned int flags),
                              (stream, from, data, count, flags),
                              cuStreamUpdateCaptureDependencies_v2(rt_stream(stream), from,
                                                                   EDGES(data), count, flags))
                        PASS(cudaThreadExchangeStreamCaptureMode,
                             (enum cudaStreamCaptureMode * mode),
                             cuThreadExchangeStreamCaptureMode(SAME(CUstreamCaptureMode, mode)))
