/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The runtime API in a program that is compiled for the per-thread default stream: each name is
 * mapped to a different symbol.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GROUP "twins"
#include "softcudart.h"

#include <string.h>

enum { W = 32, H = 8, D = 2, SIZE = W * H * D };

static unsigned char bytes[SIZE], back[SIZE];

CASE(of_plain_copies)
{
    void *a = NULL, *b = NULL;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc(&a, SIZE));
    CUDA(cudaMalloc(&b, SIZE));
    CUDA(cudaMemcpy(a, bytes, SIZE, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyAsync(b, a, SIZE, cudaMemcpyDeviceToDevice, NULL));
    CUDA(cudaMemcpy2D(back, W, b, W, W, H * D, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    CUDA(cudaMemcpy2DAsync(a, W, b, W, W, H, cudaMemcpyDeviceToDevice, NULL));
    CUDA(cudaMemset(b, 0x11, SIZE));
    CUDA(cudaMemsetAsync(b, 0x22, W, NULL));
    CUDA(cudaMemset2D(b, W, 0x33, 4, H));
    CUDA(cudaMemset2DAsync(b, W, 0x44, 2, H, NULL));
    CUDA(cudaMemcpy(back, b, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 0x44 && back[2] == 0x33 && back[4] == 0x22 && back[W + 4] == 0x11);
    const struct cudaPitchedPtr box = {b, W, W, H};
    CUDA(cudaMemset3D(box, 0x55, (struct cudaExtent){W, H, D}));
    CUDA(cudaMemset3DAsync(box, 0x66, (struct cudaExtent){1, H, D}, NULL));
    CUDA(cudaMemcpy(back, b, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[W * H] == 0x66 && back[W * H + 1] == 0x55);
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    return NULL;
}

CASE(of_copies_of_boxes)
{
    struct cudaPitchedPtr box;
    struct cudaMemcpy3DParms copy;
    struct cudaMemcpy3DPeerParms peer;
    void *other = NULL;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc3D(&box, (struct cudaExtent){W, H, D}));
    CUDA(cudaMalloc(&other, SIZE));
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){bytes, W, W, H};
    copy.dstPtr = box;
    copy.extent = (struct cudaExtent){W, H, D};
    copy.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&copy));
    memset(&peer, 0, sizeof(peer));
    peer.srcPtr = box;
    peer.dstPtr = (struct cudaPitchedPtr){other, W, W, H};
    peer.extent = copy.extent;
    CUDA(cudaMemcpy3DPeer(&peer));
    CUDA(cudaMemcpy3DPeerAsync(&peer, NULL));
    copy.srcPtr = peer.dstPtr;
    copy.dstPtr = (struct cudaPitchedPtr){back, W, W, H};
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3DAsync(&copy, NULL));
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    CUDA(cudaFree(box.ptr));
    CUDA(cudaFree(other));
    return NULL;
}

CASE(of_copies_with_arrays)
{
    enum { BYTES = W * H };
    const struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t a = NULL, b = NULL;
    softcudart_pattern(bytes, BYTES);
    CUDA(cudaMallocArray(&a, &desc, W, H, 0));
    CUDA(cudaMallocArray(&b, &desc, W, H, 0));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, bytes, W, W, H, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, W, H, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2DFromArray(back, W, b, 0, 0, W, H, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, BYTES, 0));
    CUDA(cudaMemcpy2DToArrayAsync(a, 0, 0, bytes + 1, W, W, 1, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaMemcpy2DFromArrayAsync(back, W, a, 0, 0, W, 1, cudaMemcpyDeviceToHost, NULL));
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(softcudart_is_pattern(back, W, 1));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    CUDA(cudaMemcpyToArray(a, 0, 0, bytes, BYTES, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyArrayToArray(b, 4, 0, a, 0, 0, W, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyFromArray(back, b, 4, 0, W, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, W, 0));
    CUDA(cudaMemcpyToArrayAsync(a, 0, 1, bytes, W, cudaMemcpyHostToDevice, NULL));
    CUDA(cudaMemcpyFromArrayAsync(back, a, 0, 1, W, cudaMemcpyDeviceToHost, NULL));
#pragma GCC diagnostic pop
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(softcudart_is_pattern(back, W, 0));
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
    return NULL;
}

static int called;

static void CUDART_CB call(void *number)
{
    called += *(int *)number;
}

static void CUDART_CB call_back(cudaStream_t stream, cudaError_t status, void *number)
{
    (void)stream;
    if (status == cudaSuccess)
        call(number);
}

CASE(of_streams)
{
    unsigned flags = 9;
    unsigned long long id = 0;
    int priority = 9, device = 9, one = 1;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    cudaEvent_t event = NULL;
    void *memory = NULL;
    cudaMemPool_t pool = NULL;
    CUDA(cudaStreamGetFlags(NULL, &flags));
    CUDA(cudaStreamGetPriority(NULL, &priority));
    CUDA(cudaStreamGetDevice(NULL, &device));
    CUDA(cudaStreamGetId(NULL, &id));
    CUDA(cudaStreamIsCapturing(NULL, &status));
    REQUIRE(priority == 0 && device == 0 && status == cudaStreamCaptureStatusNone);
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event, NULL));
    CUDA(cudaEventRecordWithFlags(event, NULL, cudaEventRecordDefault));
    CUDA(cudaStreamWaitEvent(NULL, event, 0));
    CUDA(cudaLaunchHostFunc(NULL, call, &one));
    CUDA(cudaStreamAddCallback(NULL, call_back, &one, 0));
    CUDA(cudaStreamSynchronize(NULL));
    REQUIRE(called == 2);
    CUDA(cudaStreamQuery(NULL));
    CUDA(cudaMallocAsync(&memory, SIZE, NULL));
    CUDA(cudaFreeAsync(memory, NULL));
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMallocFromPoolAsync(&memory, SIZE, pool, NULL));
    CUDA(cudaFreeAsync(memory, NULL));
    CUDA(cudaStreamSynchronize(NULL));
    CUDA(cudaEventDestroy(event));
    return NULL;
}

CASE(of_entry_points)
{
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
    void *own = NULL, *legacy = NULL;
    CUDA(
        cudaGetDriverEntryPointByVersion("cuStreamQuery", &own, 12000, cudaEnableDefault, &status));
    REQUIRE(status == cudaDriverEntryPointSuccess && own);
    CUDA(cudaGetDriverEntryPointByVersion("cuStreamQuery", &legacy, 12000, cudaEnableLegacyStream,
                                          NULL));
    REQUIRE(legacy && legacy != own);
#ifndef REAL_CUDART /* with NULL for the name, the libcudart of NVIDIA crashes */
    FAILS(cudaErrorInvalidValue, cudaGetDriverEntryPointByVersion(NULL, &own, 12000, 0, NULL));
#endif
    return NULL;
}

CASE(of_graphs)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphInstantiateParams params;
    void *a = NULL;
    memset(&params, 0, sizeof(params));
    CUDA(cudaMalloc(&a, SIZE));
    CUDA(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemsetAsync(a, 0x77, SIZE, NULL));
    CUDA(cudaStreamIsCapturing(NULL, &status));
    REQUIRE(status == cudaStreamCaptureStatusActive);
    CUDA(
        cudaStreamUpdateCaptureDependencies(NULL, NULL, NULL, 0, cudaStreamAddCaptureDependencies));
    CUDA(cudaStreamGetCaptureInfo(NULL, &status, NULL, NULL, NULL, NULL, NULL));
    CUDA(cudaStreamEndCapture(NULL, &graph));
    CUDA(cudaGraphInstantiateWithParams(&exec, graph, &params));
    CUDA(cudaGraphUpload(exec, NULL));
    CUDA(cudaGraphLaunch(exec, NULL));
    CUDA(cudaMemcpy(back, a, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[0] == 0x77 && back[SIZE - 1] == 0x77);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaFree(a));
    return NULL;
}
