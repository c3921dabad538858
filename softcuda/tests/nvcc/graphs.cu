/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Launches with <<< >>> that a graph captures. softcudart_graphs.c tests graphs of added nodes. */
#include "expect.h"

#define COUNT 64

__global__ void add(int *to, int step)
{
    to[threadIdx.x] += step;
}

int main()
{
    numbers<int> a(COUNT), b(COUNT);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t count = 0;
    a.send();
    CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the copy */
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
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
    b.fetch();
    for (int i = 0; i < COUNT; i++)
        EXPECT(b[i] == 15, "%d at %d", b[i], i);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaStreamDestroy(stream));
    return 0;
}
