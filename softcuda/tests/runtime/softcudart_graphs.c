/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs. softcudart_calls.c tests captures. */
#define GROUP "graphs"
#include "softcudart.h"

#include <grinterop/cuhost_launch.h>

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
    RECORD("graph_add", 2, sizes, offsets, sizeof(unsigned *) + sizeof(unsigned)),
    .run_blocks = run_add};
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
static cudaGraph_t graph;
static cudaGraphExec_t exec; /* NULL at first */

static void start(void)
{
    for (int i = 0; i < 2; i++) {
        CUDA(cudaMalloc((void **)&memory[i], SIZE));
        CUDA(cudaMemset(memory[i], 0, SIZE));
    }
    CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the fills */
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaGraphCreate(&graph, 0));
    exec = NULL;
}

static void stop(void)
{
    if (exec)
        CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFree(memory[0]));
    CUDA(cudaFree(memory[1]));
}

/* Launches the graph, and checks the words in memory[1]. */
static void launch(unsigned expected)
{
    unsigned words[COUNT];
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(words, memory[1], SIZE, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        REQUIRE(words[i] == expected);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static unsigned step, calls[2];
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

/* A chain of nodes: each step writes into memory[0], or copies from it to memory[1]. */
static cudaGraphNode_t fill, kernel, copy, plain, host;

static void add_nodes(void)
{
    const struct cudaMemsetParams with = fill_params(10);
    const struct cudaKernelNodeParams by = kernel_params(2);
    const struct cudaMemcpy3DParms box = copy_params(SIZE);
    const struct cudaHostNodeParams call = {.fn = count_up, .userData = &calls[0]};
    struct cudaHostNodeParams has;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &with));
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &by));
    CUDA(cudaGraphAddMemcpyNode(&copy, graph, &kernel, 1, &box));
    CUDA(cudaGraphAddMemcpyNode1D(&plain, graph, &copy, 1, memory[1], memory[0], 4,
                                  cudaMemcpyDefault));
    CUDA(cudaGraphAddHostNode(&host, graph, &plain, 1, &call));
    CUDA(cudaGraphHostNodeGetParams(host, &has));
    REQUIRE(has.fn == count_up && has.userData == &calls[0]);
}

/* Changes a node of the executable graph or, if it is NULL, of the graph itself. */
#define CHANGE(name, node, ...)                                                                    \
    (exec ? cudaGraphExec##name(exec, node, __VA_ARGS__) : cudaGraph##name(node, __VA_ARGS__))

/* The 3D copy now copies only the first word, and the plain copy the others. */
static void change(unsigned value, unsigned more)
{
    const struct cudaMemsetParams with = fill_params(value);
    const struct cudaKernelNodeParams by = kernel_params(more);
    const struct cudaMemcpy3DParms box = copy_params(4);
    const struct cudaHostNodeParams call = {.fn = count_up, .userData = &calls[1]};
    CUDA(CHANGE(MemsetNodeSetParams, fill, &with));
    CUDA(CHANGE(KernelNodeSetParams, kernel, &by));
    CUDA(CHANGE(MemcpyNodeSetParams, copy, &box));
    CUDA(CHANGE(MemcpyNodeSetParams1D, plain, memory[1] + 1, memory[0] + 1, SIZE - 4,
                cudaMemcpyDeviceToDevice));
    CUDA(CHANGE(HostNodeSetParams, host, &call));
}

CASE(of_each_kind_of_node)
{
    start();
    calls[0] = calls[1] = 0;
    add_nodes();
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    launch(12);
    REQUIRE(calls[0] == 1);
    change(20, 3);
    launch(23);
    CUDA(cudaGraphExecDestroy(exec));
    exec = NULL;
    change(30, 5);
    CUDA(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUpload));
    launch(35);
    REQUIRE(calls[0] == 1 && calls[1] == 2);
    stop();
}

CASE(of_nodes_of_any_type)
{
    cudaGraphNode_t nodes[3];
    struct cudaGraphNodeParams any[3];
    start();
    const struct cudaKernelNodeParams by = kernel_params(7);
    const struct cudaMemsetParams with = fill_params(40);
    memset(any, 0, sizeof(any));
    any[0].type = cudaGraphNodeTypeMemset;
    memcpy(&any[0].memset, &with, sizeof(with));
    any[1].type = cudaGraphNodeTypeKernel;
    memcpy(&any[1].kernel, &by, sizeof(by));
    any[2].type = cudaGraphNodeTypeMemcpy;
    any[2].memcpy.copyParams = copy_params(SIZE);
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphAddNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, NULL, i != 0, &any[i]));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    launch(47);
    step = 8; /* a parameter of the kernel */
    CUDA(CHANGE(NodeSetParams, nodes[1], &any[1]));
    launch(48);
    CUDA(cudaGraphExecDestroy(exec));
    exec = NULL;
    step = 9;
    CUDA(CHANGE(NodeSetParams, nodes[1], &any[1]));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    launch(49);
    stop();
}

CASE(of_invalid_parameters)
{
    const enum cudaMemcpyKind none = (enum cudaMemcpyKind)9;
    cudaGraphNode_t node = NULL;
    start();
    struct cudaKernelNodeParams by = kernel_params(1);
    struct cudaMemcpy3DParms box = copy_params(SIZE + 4096);
    by.func = &step;
    FAILS(cudaErrorInvalidDeviceFunction, cudaGraphAddKernelNode(&node, graph, NULL, 0, &by));
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    box.kind = none;
    FAILS(cudaErrorInvalidMemcpyDirection, cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &box));
    FAILS(cudaErrorInvalidMemcpyDirection,
          cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, memory[1], memory[0], SIZE, none));
    FAILS(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddHostNode(&node, graph, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, NULL, NULL, 0, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphNodeSetParams(node, NULL));
    FAILS(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(NULL, node, NULL));
    REQUIRE(!node);
    stop();
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

CASE(of_edges)
{
    cudaGraphNode_t a, b, c, from[2], to[2];
    enum cudaGraphNodeType type;
    cudaEvent_t event = NULL, got[2] = {NULL};
    size_t count = 2;
    start();
    CUDA(cudaEventCreate(&event));
    CUDA(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    CUDA(cudaGraphAddEventRecordNode(&b, graph, NULL, 0, event));
    CUDA(cudaGraphAddEventWaitNode(&c, graph, NULL, 0, event));
    CUDA(cudaGraphEventRecordNodeGetEvent(b, &got[0]));
    CUDA(cudaGraphEventWaitNodeGetEvent(c, &got[1]));
    REQUIRE(got[0] == event && got[1] == event);
    READS(type, cudaGraphNodeTypeWaitEvent, cudaGraphNodeGetType(c, &type));
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
    count = 2;
    CUDA(cudaGraphGetRootNodes(graph, from, &count));
    REQUIRE(count == 1 && from[0] == a);
    CUDA(cudaGraphRemoveDependencies(graph, &a, &b, NULL, 1));
    CUDA(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    REQUIRE(count == 0);
    CUDA(cudaEventDestroy(event));
    stop();
}

CASE(of_children_clones_and_updates)
{
    cudaGraph_t child = NULL, clone = NULL;
    cudaGraphNode_t node, found = NULL;
    cudaGraphExecUpdateResultInfo info;
    size_t count = 0;
    start();
    CUDA(cudaGraphCreate(&child, 0));
    CUDA(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CUDA(cudaGraphDestroy(child));
    CUDA(cudaGraphChildGraphNodeGetGraph(node, &child));
    FAILS(cudaErrorInvalidValue, cudaGraphDestroy(child));
    CUDA(cudaGraphClone(&clone, graph));
    CUDA(cudaGraphNodeFindInClone(&found, node, clone));
    REQUIRE(found && found != node);
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphExecUpdate(exec, clone, &info));
    REQUIRE(info.result == cudaGraphExecUpdateSuccess);
    CUDA(cudaGraphAddEmptyNode(&node, clone, NULL, 0));
    CUDA(cudaGraphGetNodes(clone, NULL, &count));
    REQUIRE(count == 2);
    FAILS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, clone, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    CUDA(cudaGraphDestroy(clone));
    stop();
}

CASE(of_user_objects)
{
    unsigned destroyed = 0;
    cudaUserObject_t object = NULL;
    start();
    CUDA(cudaUserObjectCreate(&object, &destroyed, count_up, 1, cudaUserObjectNoDestructorSync));
    CUDA(cudaUserObjectRetain(object, 1));
    CUDA(cudaUserObjectRelease(object, 1));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, 0));
    CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    REQUIRE(destroyed == 0);
    stop();
    REQUIRE(destroyed == 1);
}
