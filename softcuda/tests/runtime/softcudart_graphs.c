/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs and stream capture. */
#define GROUP "graphs"
#include "softcudart.h"

#include <grinterop/cuhost_launch.h>

#include <string.h>

enum { COUNT = 64, SIZE = COUNT * sizeof(unsigned) };

/* A kernel that adds a number to each word, registered as in the output of grinterop-nvcc. */
static void run_add(const gr_cuhost_block *first, unsigned count, void *const *params)
{
    unsigned *words = *(unsigned *const *)params[0];
    for (unsigned t = 0; t < count * first->block_dim[0]; t++)
        words[t] += *(const unsigned *)params[1];
}

static const uint32_t sizes[] = {sizeof(unsigned *), sizeof(unsigned)};
static const uint32_t offsets[] = {0, sizeof(unsigned *)};
static const gr_cuhost_kernel add_kernel = {
    .abi = GR_CUHOST_ABI,
    .size = sizeof(add_kernel),
    .param_count = 2,
    .name = "graph_add",
    .param_sizes = sizes,
    .param_offsets = offsets,
    .params_size = sizeof(unsigned *) + sizeof(unsigned),
    .run_blocks = run_add,
};
static const char add_stub;

__attribute__((constructor)) static void register_kernel(void)
{
    gr_cuhost_add_kernel(&add_kernel, "graph_add", &add_stub);
}

static void CUDART_CB count_up(void *number)
{
    ++*(unsigned *)number;
}

static unsigned *memory[2]; /* of COUNT words */
static cudaStream_t stream;

static const char *start(void)
{
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc((void **)&memory[i], SIZE));
        CUDA(cudaMemset(memory[i], 0, SIZE));
    }
    CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the fills */
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return NULL;
}

static const char *stop(void)
{
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(memory[0]));
    CUDA(cudaFree(memory[1]));
    return NULL;
}

static const char *end(cudaGraph_t graph, cudaGraphExec_t exec)
{
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    return stop();
}

/* Launches the graph and waits. */
static const char *launch(cudaGraphExec_t exec)
{
    CUDA(cudaGraphUpload(exec, stream));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    return NULL;
}

static int all_words_are(const unsigned *device, unsigned value)
{
    unsigned words[COUNT];
    if (cudaMemcpy(words, device, SIZE, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 0;
    for (int i = 0; i < COUNT; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static unsigned step, calls;
static unsigned *target;
static void *arguments[] = {&target, &step};

static struct cudaKernelNodeParams kernel_params(unsigned by)
{
    target = memory[0];
    step = by;
    return (struct cudaKernelNodeParams){.func = (void *)&add_stub,
                                         .gridDim = {1, 1, 1},
                                         .blockDim = {COUNT, 1, 1},
                                         .kernelParams = arguments};
}

static struct cudaMemsetParams fill_params(unsigned value)
{
    return (struct cudaMemsetParams){
        .dst = memory[0], .elementSize = 4, .value = value, .width = COUNT, .height = 1};
}

static struct cudaMemcpy3DParms copy_params(size_t bytes)
{
    struct cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){memory[0], SIZE, SIZE, 1};
    copy.dstPtr = (struct cudaPitchedPtr){memory[1], SIZE, SIZE, 1};
    copy.extent = (struct cudaExtent){bytes, 1, 1};
    copy.kind = cudaMemcpyDeviceToDevice;
    return copy;
}

static struct cudaHostNodeParams host_params(void)
{
    return (struct cudaHostNodeParams){.fn = count_up, .userData = &calls};
}

/* A chain of nodes: each step writes into memory[0], or copies from it to memory[1]. */
static cudaGraphNode_t fill, kernel, copy, plain, host;

static const char *add_nodes(cudaGraph_t graph)
{
    const struct cudaMemsetParams with = fill_params(10);
    const struct cudaKernelNodeParams by = kernel_params(2);
    const struct cudaMemcpy3DParms box = copy_params(SIZE);
    const struct cudaHostNodeParams call = host_params();
    struct cudaHostNodeParams has;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &with));
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &by));
    CUDA(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &box));
    CUDA(cudaGraphAddMemcpyNode1D(&plain, graph, &copy, 1, memory[1], memory[0], 4,
                                  cudaMemcpyDefault));
    CUDA(cudaGraphAddHostNode(&host, graph, &plain, 1, &call));
    CUDA(cudaGraphHostNodeGetParams(host, &has));
    REQUIRE(has.fn == count_up && has.userData == &calls);
    return NULL;
}

/* The 3D copy now copies only the first word, and the plain copy the others. */
static const char *change_in(cudaGraphExec_t exec)
{
    const struct cudaMemsetParams with = fill_params(20);
    const struct cudaKernelNodeParams by = kernel_params(3);
    const struct cudaMemcpy3DParms box = copy_params(4);
    const struct cudaHostNodeParams call = {.fn = count_up, .userData = &step};
    CUDA(cudaGraphExecMemsetNodeSetParams(exec, fill, &with));
    CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &by));
    CUDA(cudaGraphExecMemcpyNodeSetParams(exec, copy, &box));
    CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec, plain, memory[1] + 1, memory[0] + 1, SIZE - 4,
                                            cudaMemcpyDeviceToDevice));
    CUDA(cudaGraphExecHostNodeSetParams(exec, host, &call));
    return NULL;
}

static const char *change(void)
{
    const struct cudaMemsetParams with = fill_params(30);
    const struct cudaKernelNodeParams by = kernel_params(5);
    const struct cudaMemcpy3DParms box = copy_params(4);
    const struct cudaHostNodeParams call = {.fn = count_up, .userData = &step};
    CUDA(cudaGraphMemsetNodeSetParams(fill, &with));
    CUDA(cudaGraphKernelNodeSetParams(kernel, &by));
    CUDA(cudaGraphMemcpyNodeSetParams(copy, &box));
    CUDA(cudaGraphMemcpyNodeSetParams1D(plain, memory[1], memory[0], SIZE,
                                        cudaMemcpyDeviceToDevice));
    CUDA(cudaGraphHostNodeSetParams(host, &call));
    return NULL;
}

CASE(of_each_kind_of_node)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    PASS_ON(start());
    calls = 0;
    CUDA(cudaGraphCreate(&graph, 0));
    PASS_ON(add_nodes(graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 12) && calls == 1);
    PASS_ON(change_in(exec));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 23) && calls == 1 && step == 4);
    CUDA(cudaGraphExecDestroy(exec));
    PASS_ON(change());
    CUDA(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUpload));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 35) && calls == 1 && step == 6);
    return end(graph, exec);
}

CASE(of_nodes_of_any_type)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t nodes[3];
    struct cudaGraphNodeParams any[3];
    struct cudaKernelNodeParams by;
    struct cudaMemsetParams with;
    PASS_ON(start());
    by = kernel_params(7), with = fill_params(40);
    memset(any, 0, sizeof(any));
    any[0].type = cudaGraphNodeTypeMemset;
    memcpy(&any[0].memset, &with, sizeof(with));
    any[1].type = cudaGraphNodeTypeKernel;
    memcpy(&any[1].kernel, &by, sizeof(by));
    any[2].type = cudaGraphNodeTypeMemcpy;
    any[2].memcpy.copyParams = copy_params(SIZE);
    CUDA(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphAddNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, NULL, i != 0, &any[i]));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 47));
    step = 8; /* a parameter of the kernel */
    CUDA(cudaGraphExecNodeSetParams(exec, nodes[1], &any[1]));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 48));
    CUDA(cudaGraphExecDestroy(exec));
    step = 9;
    CUDA(cudaGraphNodeSetParams(nodes[1], &any[1]));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[1], 49));
    return end(graph, exec);
}

CASE(of_invalid_parameters)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    struct cudaKernelNodeParams by;
    struct cudaMemcpy3DParms box;
    PASS_ON(start());
    by = kernel_params(1), box = copy_params(SIZE);
    CUDA(cudaGraphCreate(&graph, 0));
    by.func = &step;
    FAILS(cudaErrorInvalidDeviceFunction, cudaGraphAddKernelNode(&node, graph, NULL, 0, &by));
    box.extent.width = SIZE + 4096;
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    box.kind = (enum cudaMemcpyKind)9;
    FAILS(cudaErrorInvalidMemcpyDirection, cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, memory[1], memory[0], SIZE,
                                   (enum cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, NULL, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphNodeSetParams(node, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(NULL, node, NULL));
    REQUIRE(!node);
    CUDA(cudaGraphDestroy(graph));
    return stop();
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

CASE(of_edges)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t a, b, c, from[2], to[2];
    enum cudaGraphNodeType type;
    cudaEvent_t event = NULL, got[2] = {NULL};
    size_t count = 2;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaEventCreate(&event));
    CUDA(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    CUDA(cudaGraphAddEventRecordNode(&b, graph, NULL, 0, event));
    CUDA(cudaGraphAddEventWaitNode(&c, graph, NULL, 0, event));
    CUDA(cudaGraphEventRecordNodeGetEvent(b, &got[0]));
    CUDA(cudaGraphEventWaitNodeGetEvent(c, &got[1]));
    REQUIRE(got[0] == event && got[1] == event);
    CUDA(cudaGraphNodeGetType(c, &type));
    REQUIRE(type == cudaGraphNodeTypeWaitEvent);
    CUDA(cudaGraphDestroyNode(c));
    CUDA(cudaGraphAddDependencies(graph, &a, &b, NULL, 1));
    CUDA(cudaGraphGetEdges(graph, from, to, NULL, &count));
    REQUIRE(count == 1 && from[0] == a && to[0] == b);
    count = 2;
    CUDA(cudaGraphNodeGetDependencies(b, from, NULL, &count));
    REQUIRE(count == 1 && from[0] == a);
    count = 2;
    CUDA(cudaGraphNodeGetDependentNodes(a, to, NULL, &count));
    REQUIRE(count == 1 && to[0] == b);
    CUDA(cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    count = 2;
    CUDA(cudaGraphGetRootNodes(graph, from, &count));
    REQUIRE(count == 2 && from[0] == a && from[1] == b);
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(event));
    return NULL;
}

CASE(of_children_and_clones)
{
    cudaGraph_t graph = NULL, child = NULL, clone = NULL;
    cudaGraphNode_t node, found = NULL;
    size_t count = 0;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&child, 0));
    CUDA(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    CUDA(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CUDA(cudaGraphDestroy(child));
    CUDA(cudaGraphChildGraphNodeGetGraph(node, &child));
    REQUIRE(child);
    FAILS(cudaErrorInvalidValue, cudaGraphDestroy(child));
    CUDA(cudaGraphClone(&clone, graph));
    CUDA(cudaGraphNodeFindInClone(&found, node, clone));
    REQUIRE(found && found != node);
    CUDA(cudaGraphGetNodes(clone, NULL, &count));
    REQUIRE(count == 2);
    CUDA(cudaGraphDestroy(clone));
    CUDA(cudaGraphDestroy(graph));
    return NULL;
}

CASE(of_updates)
{
    cudaGraph_t graph = NULL, other = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphInstantiateParams params;
    struct cudaMemsetParams with;
    PASS_ON(start());
    with = fill_params(1);
    memset(&params, 0, sizeof(params));
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphCreate(&other, 0));
    CUDA(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &with));
    with.value = 2;
    CUDA(cudaGraphAddMemsetNode(&node, other, NULL, 0, &with));
    CUDA(cudaGraphInstantiateWithParams(&exec, graph, &params));
    REQUIRE(params.result_out == cudaGraphInstantiateSuccess);
    CUDA(cudaGraphExecUpdate(exec, other, &info));
    REQUIRE(info.result == cudaGraphExecUpdateSuccess);
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(memory[0], 2));
    CUDA(cudaGraphAddEmptyNode(&node, other, NULL, 0));
    FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(other));
    CUDA(cudaGraphDestroy(graph));
    return stop();
}

CASE(of_user_objects)
{
    unsigned destroyed = 0;
    cudaUserObject_t object = NULL;
    cudaGraph_t graph = NULL;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaUserObjectCreate(&object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
    CUDA(cudaUserObjectRetain(object, 1));
    CUDA(cudaUserObjectRelease(object, 1));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, 0));
    CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    REQUIRE(destroyed == 0);
    CUDA(cudaGraphDestroy(graph));
    REQUIRE(destroyed == 1);
    return NULL;
}

/* ---- Capture --------------------------------------------------------------------------------- */

CASE(of_captured_streams)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaGraph_t graph = NULL, captured = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t node;
    unsigned *extra = NULL;
    size_t count = 0;
    struct cudaMemsetParams with;
    PASS_ON(start());
    with = fill_params(3);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    FAILS(cudaErrorStreamCaptureUnsupported, cudaMalloc((void **)&extra, SIZE));
    FAILS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    REQUIRE(!graph && !extra);
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    CUDA(cudaMalloc((void **)&extra, SIZE));
    CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
    REQUIRE(mode == cudaStreamCaptureModeRelaxed);
    CUDA(cudaStreamIsCapturing(stream, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    CUDA(cudaStreamGetCaptureInfo(stream, &status, NULL, &captured, NULL, NULL, &count));
    REQUIRE(captured && count == 0);
    CUDA(cudaGraphAddMemsetNode(&node, captured, NULL, 0, &with));
    CUDA(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                             cudaStreamSetCaptureDependencies));
    CUDA(cudaMemcpyAsync(extra, memory[0], SIZE, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    REQUIRE(graph == captured && all_words_are(memory[0], 0));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    PASS_ON(launch(exec));
    REQUIRE(all_words_are(extra, 3));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(extra));
    return stop();
}
