/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "softcudart.h"

#include <pthread.h>
#include <string.h>

/* The first runtime call of a program initialises CUDA. */
static const char *starts_implicitly(void)
{
    int count = 0;
    void *memory = NULL;
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CUDA(cudaMalloc(&memory, 64));
    REQUIRE(memory);
    CUDA(cudaFree(memory));
    CUDA(cudaGetDeviceCount(&count));
    REQUIRE(count >= 1);
    return NULL;
}

static const char *have_names_and_texts(void)
{
    REQUIRE(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    REQUIRE(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    REQUIRE(strcmp(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function") ==
            0);
    REQUIRE(strcmp(cudaGetErrorName((cudaError_t)54321), "unrecognized error code") == 0);
    REQUIRE(strcmp(cudaGetErrorString((cudaError_t)54321), "unrecognized error code") == 0);
    return NULL;
}

static const char *last_error_persists(void)
{
    void *memory = NULL;
    REQUIRE(cudaFree((void *)(size_t)64) == cudaErrorInvalidValue);
    CUDA(cudaMalloc(&memory, 64)); /* success does not clear it */
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    CUDA(cudaFree(memory));
    return NULL;
}

static void *fail_in_thread(void *seen)
{
    *(int *)seen = cudaGetLastError() == cudaSuccess &&
                   cudaSetDevice(-1) == cudaErrorInvalidDevice &&
                   cudaGetLastError() == cudaErrorInvalidDevice;
    return NULL;
}

static const char *last_error_per_thread(void)
{
    pthread_t thread;
    int seen = 0;
    REQUIRE(cudaFree((void *)(size_t)64) == cudaErrorInvalidValue);
    REQUIRE(pthread_create(&thread, NULL, fail_in_thread, &seen) == 0);
    pthread_join(thread, NULL);
    REQUIRE(seen);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
    return NULL;
}

#ifndef REAL_CUDART
/* Unsupported functions return an error, and the program continues. */
static const char *not_supported(void)
{
    cudaGraph_t graph = NULL;
    FAILS(cudaErrorNotSupported, cudaGraphCreate(&graph, 0));
    FAILS(cudaErrorNotSupported, cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    return NULL;
}
#endif

const struct softcudart_case softcudart_errors[] = {
    {"starts_implicitly", starts_implicitly},
    {"have_names_and_texts", have_names_and_texts},
    {"last_error_persists", last_error_persists},
    {"last_error_per_thread", last_error_per_thread},
#ifndef REAL_CUDART
    {"not_supported", not_supported},
#endif
    {NULL, NULL},
};
