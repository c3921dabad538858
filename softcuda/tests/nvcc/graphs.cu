/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Graphs of the runtime API: captured launches, and nodes that the program adds. */
#include "expect.h"

#define COUNT 64

__global__ void add(int *to, int step)
{
    to[threadIdx.x] += step;
}

static void CUDART_CB count_up(void *number)
{
    ++*static_cast<int *>(number);
}

static void expect_all(numbers<int> &values, int wanted, int line)
{
    values.fetch();
    for (int i = 0; i < COUNT; i++)
        EXPECT(values[i] == wanted, "%d at %d, line %d", values[i], i, line);
}

static void capture(cudaStream_t stream, numbers<int> &a, numbers<int> &b)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t count = 0;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, COUNT, 0, stream>>>(a.device, 5);
    CUDA(
        cudaMemcpyAsync(b.device, a.device, COUNT * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive, "%d", (int)status);
    EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported, "a wait");
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated, "the end");
    (void)cudaGetLastError();

    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, COUNT, 0, stream>>>(a.device, 5);
    CUDA(
        cudaMemcpyAsync(b.device, a.device, COUNT * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 2, "%zu", count);
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    expect_all(b, 15, __LINE__);
    CUDA(cudaGraphExecDestroy(exec));
}

static void build(cudaStream_t stream, numbers<int> &a, numbers<int> &b)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel, copy, host;
    int step = 2, calls = 0;
    int *to = a.device;
    void *arguments[] = {&to, &step};
    cudaMemsetParams memory = {};
    memory.dst = a.device, memory.elementSize = 1, memory.width = COUNT * sizeof(int);
    memory.height = 1;
    cudaKernelNodeParams launch = {};
    launch.func = (void *)add, launch.gridDim = dim3(1), launch.blockDim = dim3(COUNT);
    launch.kernelParams = arguments;
    cudaHostNodeParams call = {};
    call.fn = count_up, call.userData = &calls;
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memory));
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, b.device, a.device, COUNT * sizeof(int),
                                  cudaMemcpyDefault));
    CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    EXPECT(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, b.device, a.device, 4,
                                    (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection,
           "kind");
    launch.func = (void *)&calls;
    EXPECT(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch) ==
               cudaErrorInvalidDeviceFunction,
           "a function");
    (void)cudaGetLastError();
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    expect_all(b, 2, __LINE__);
    launch.func = (void *)add;
    step = 9;
    CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    expect_all(b, 9, __LINE__);
    EXPECT(calls == 2, "%d", calls);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

int main()
{
    numbers<int> a(COUNT), b(COUNT);
    cudaStream_t stream;
    a.send();
    CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the copy */
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    capture(stream, a, b);
    build(stream, a, b);
    CUDA(cudaStreamDestroy(stream));
    return 0;
}
