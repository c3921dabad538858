/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "copies"
#include "softcudart.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 4096

CASE(in_every_direction)
{
    unsigned char bytes[SIZE], back[SIZE];
    void *a = NULL, *b = NULL;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc(&a, SIZE));
    CUDA(cudaMalloc(&b, SIZE));
    CUDA(cudaMemcpy(a, bytes, SIZE, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(b, a, SIZE, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(back, b, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    memset(back, 0, SIZE);
    CUDA(cudaMemcpy(back, bytes, SIZE, cudaMemcpyHostToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    CUDA(cudaMemset(a, 0, SIZE));
    CUDA(cudaMemcpy(a, bytes, SIZE, cudaMemcpyDefault));
    memset(back, 0, SIZE);
    CUDA(cudaMemcpy(back, a, SIZE, cudaMemcpyDefault));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    CUDA(cudaMemcpy(back, a, 0, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpyPeer(b, 0, (char *)a + 16, 0, SIZE - 16));
    CUDA(cudaMemcpy(back, b, SIZE - 16, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE - 16, 16));
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    return NULL;
}

CASE(refused_if_arguments_are_invalid)
{
    unsigned char bytes[64];
    void *memory = NULL;
    CUDA(cudaMalloc(&memory, 64));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(memory, bytes, 64, (enum cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(memory, bytes, 64 << 20, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemset(memory, 0, 64 << 20));
    CUDA(cudaFree(memory));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(memory, bytes, 64, cudaMemcpyHostToDevice));
    return NULL;
}

CASE(queued)
{
    unsigned char bytes[SIZE], *back = NULL;
    void *memory = NULL;
    cudaStream_t stream = NULL;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc(&memory, SIZE));
    CUDA(cudaMallocHost((void **)&back, SIZE));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    memset(back, 0, SIZE);
    CUDA(cudaMemcpyAsync(memory, bytes, SIZE, cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemcpyAsync(back, memory, SIZE, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    CUDA(cudaMemset2DAsync(memory, 64, 0x55, 16, SIZE / 64, stream));
    CUDA(cudaMemcpy2DAsync(back, 16, memory, 64, 16, SIZE / 64, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (size_t i = 0; i < SIZE / 4; i++)
        REQUIRE(back[i] == 0x55);
    CUDA(cudaMemcpy(back, memory, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(back[16] == softcudart_byte(16)); /* this byte is between two rows */
    CUDA(cudaStreamDestroy(stream));
    CUDA(cudaFreeHost(back));
    CUDA(cudaFree(memory));
    return NULL;
}

/* The per-thread variants, which CUDA_API_PER_THREAD_DEFAULT_STREAM selects. */
cudaError_t CUDARTAPI cudaMemcpy_ptds(void *dst, const void *src, size_t count,
                                      enum cudaMemcpyKind kind);
cudaError_t CUDARTAPI cudaMemsetAsync_ptsz(void *devPtr, int value, size_t count,
                                           cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t CUDARTAPI cudaStreamGetId_ptsz(cudaStream_t hStream, unsigned long long *streamId);

CASE(on_per_thread_stream)
{
    unsigned char bytes[64];
    void *memory = NULL;
    unsigned long long named = 0, implied = 1, legacy = 0;
    CUDA(cudaMalloc(&memory, 64));
    CUDA(cudaMemsetAsync_ptsz(memory, 0x31, 64, NULL));
    CUDA(cudaStreamSynchronize_ptsz(NULL));
    CUDA(cudaMemcpy_ptds(bytes, memory, 64, cudaMemcpyDeviceToHost));
    REQUIRE(bytes[63] == 0x31);
    CUDA(cudaStreamGetId(cudaStreamPerThread, &named));
    CUDA(cudaStreamGetId_ptsz(NULL, &implied));
    CUDA(cudaStreamGetId(NULL, &legacy));
    REQUIRE(named == implied && named != legacy);
    CUDA(cudaFree(memory));
    return NULL;
}

/* Copies in both directions between two devices or, if there is only one, within it. */
CASE(between_devices)
{
    unsigned char bytes[SIZE], back[SIZE];
    void *first = NULL, *second = NULL;
    struct cudaMemcpy3DPeerParms copy;
    int count = 0;
    CUDA(cudaGetDeviceCount(&count));
    int other = count > 1;
    softcudart_pattern(bytes, SIZE);
    CUDA(cudaMalloc(&first, SIZE));
    CUDA(cudaSetDevice(other));
    CUDA(cudaMalloc(&second, SIZE));
    CUDA(cudaSetDevice(0));
    CUDA(cudaMemcpy(first, bytes, SIZE, cudaMemcpyHostToDevice));
    memset(&copy, 0, sizeof(copy));
    copy.srcPtr = (struct cudaPitchedPtr){first, 64, 64, SIZE / 64};
    copy.dstPtr = (struct cudaPitchedPtr){second, 64, 64, SIZE / 64};
    copy.dstDevice = other;
    copy.extent = (struct cudaExtent){64, SIZE / 64, 1};
    CUDA(cudaMemcpy3DPeer(&copy));
    CUDA(cudaMemset(first, 0, SIZE));
    CUDA(cudaMemcpyPeerAsync(first, 0, second, other, SIZE, NULL));
    CUDA(cudaMemcpy(back, first, SIZE, cudaMemcpyDeviceToHost));
    REQUIRE(softcudart_is_pattern(back, SIZE, 0));
    FAILS(cudaErrorInvalidDevice, cudaMemcpyPeer(first, 99, second, other, SIZE));
    CUDA(cudaFree(first));
    CUDA(cudaFree(second));
    return NULL;
}
