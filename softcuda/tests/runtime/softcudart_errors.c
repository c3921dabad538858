/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "errors"
#include "softcudart.h"

#include <pthread.h>

/* The first runtime call of a program initialises CUDA. */
CASE(starts_implicitly)
{
    int count = 0;
    void *memory = NULL;
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CUDA(cudaMalloc(&memory, 64));
    REQUIRE(memory);
    CUDA(cudaFree(memory));
    CUDA(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
}

CASE(have_names_and_texts)
{
    REQUIRE(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    REQUIRE(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function") ==
            0);
    REQUIRE(strcmp(cudaGetErrorName((cudaError_t)54321), "unrecognized error code") == 0);
    REQUIRE(strcmp(cudaGetErrorString((cudaError_t)54321), "unrecognized error code") == 0);
}

CASE(last_error_persists)
{
    void *memory = NULL;
    REQUIRE(cudaFree((void *)(size_t)64) == cudaErrorInvalidValue);
    CUDA(cudaMalloc(&memory, 64)); /* a successful call does not clear the last error */
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaSuccess);
}

static void *fail_in_thread(void *seen)
{
    *(int *)seen = cudaGetLastError() == cudaSuccess &&
                   cudaSetDevice(-1) == cudaErrorInvalidDevice &&
                   cudaGetLastError() == cudaErrorInvalidDevice;
    return NULL;
}

CASE(last_error_per_thread)
{
    pthread_t thread;
    int seen = 0;
    REQUIRE(cudaFree((void *)(size_t)64) == cudaErrorInvalidValue);
    REQUIRE(pthread_create(&thread, NULL, fail_in_thread, &seen) == 0);
    pthread_join(thread, NULL);
    REQUIRE(seen);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
}

#ifndef REAL_CUDART
/* Unsupported functions return an error, and the program continues. */
CASE(not_supported)
{
    cudaGraphConditionalHandle handle = 0;
    cudaGraphNode_t node = NULL;
    FAILS(cudaErrorNotSupported, cudaGraphConditionalHandleCreate(&handle, NULL, 0, 0));
    FAILS(cudaErrorNotSupported, cudaGraphAddMemcpyNodeToSymbol(&node, NULL, NULL, 0, NULL, NULL, 0,
                                                                0, cudaMemcpyHostToDevice));
}
#endif
