/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define GROUP "streams"
#include "softcudart.h"

#include <semaphore.h>
#include <string.h>

static sem_t gate;

static void CUDART_CB wait_at_gate(void *unused)
{
    (void)unused;
    while (sem_wait(&gate) != 0)
        continue;
}

CASE(created_and_destroyed)
{
    cudaStream_t stream = NULL;
    unsigned flags = 9;
    int priority = 9, device = -1, least, greatest;
    CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    CUDA(cudaStreamGetFlags(stream, &flags));
    REQUIRE(flags == cudaStreamNonBlocking);
    CUDA(cudaStreamGetPriority(stream, &priority));
    REQUIRE(priority == greatest);
    CUDA(cudaStreamGetDevice(stream, &device));
    REQUIRE(device == 0);
    CUDA(cudaStreamQuery(stream));
    CUDA(cudaStreamDestroy(stream));
    FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 0x40));
    FAILS(cudaErrorInvalidValue, cudaStreamCreate(NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    return NULL;
}

CASE(wait_for_events)
{
    cudaStream_t first = NULL, second = NULL;
    cudaEvent_t event = NULL;
    REQUIRE(sem_init(&gate, 0, 0) == 0);
    CUDA(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUDA(cudaLaunchHostFunc(first, wait_at_gate, NULL));
    CUDA(cudaEventRecord(event, first));
    CUDA(cudaStreamWaitEvent(second, event, 0));
    REQUIRE(cudaEventQuery(event) == cudaErrorNotReady);
    REQUIRE(cudaStreamQuery(second) == cudaErrorNotReady);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    sem_post(&gate);
    CUDA(cudaStreamSynchronize(second));
    CUDA(cudaEventQuery(event));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaStreamDestroy(second));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventDestroy(NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(NULL, NULL));
    return NULL;
}

CASE(measured_between_two_events)
{
    cudaEvent_t start = NULL, end = NULL, untimed = NULL;
    float ms = -1;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&end));
    CUDA(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CUDA(cudaEventRecord(start, NULL));
    CUDA(cudaEventRecordWithFlags(end, NULL, cudaEventRecordDefault));
    CUDA(cudaEventSynchronize(end));
    CUDA(cudaEventElapsedTime(&ms, start, end));
    REQUIRE(ms >= 0);
    CUDA(cudaEventRecord(untimed, NULL));
    CUDA(cudaEventSynchronize(untimed));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(end));
    CUDA(cudaEventDestroy(untimed));
    return NULL;
}

struct called {
    cudaStream_t stream;
    cudaError_t status;
    cudaError_t inside; /* the result of a CUDA call inside the callback */
    int times;
};

static void CUDART_CB call(cudaStream_t stream, cudaError_t status, void *data)
{
    struct called *called = data;
    void *memory;
    called->stream = stream;
    called->status = status;
    called->inside = cudaMalloc(&memory, 64);
    called->times++;
}

CASE(call_back)
{
    struct called called = {.status = cudaErrorUnknown};
    cudaStream_t stream = NULL;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamAddCallback(stream, call, &called, 0));
    CUDA(cudaStreamSynchronize(stream));
    REQUIRE(called.times == 1 && called.stream == stream && called.status == cudaSuccess);
    REQUIRE(called.inside == cudaErrorNotPermitted);
    FAILS(cudaErrorInvalidValue, cudaStreamAddCallback(stream, call, &called, 1));
    CUDA(cudaStreamDestroy(stream));
    return NULL;
}

CASE(not_captured)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    CUDA(cudaStreamIsCapturing(cudaStreamPerThread, &status));
    REQUIRE(status == cudaStreamCaptureStatusNone);
    return NULL;
}
