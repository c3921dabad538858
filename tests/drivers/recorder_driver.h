/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface of the recorder driver for tests: cuda_symbol("recorder_api", 2000) returns a
 * pointer to a struct recorder_api once grinterop has loaded the driver.
 */
#ifndef GR_TESTS_RECORDER_DRIVER_H
#define GR_TESTS_RECORDER_DRIVER_H

#include <cuda.h>
#include <stddef.h>

#define RECORDER_SEMAPHORES 8

/* A call as the driver received it; descriptions are copied, including their padding. */
struct recorded {
    const char *call;
    union {
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory;
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer;
        CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC array;
        CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore;
        CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signals[RECORDER_SEMAPHORES];
        CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS waits[RECORDER_SEMAPHORES];
        CUstreamBatchMemOpParams operation; /* the first operation of the call */
    } given;
    void *handle; /* the handle that was imported, or the object that was mapped or destroyed */
    CUexternalSemaphore semaphores[RECORDER_SEMAPHORES];
    unsigned count; /* the number of signals, waits or operations */
    CUstream stream;
};

struct recorder_api {
    /* Discards the recorded calls, and makes all calls succeed again. */
    void (*reset)(void);
    /*
     * The number of calls of a function. Only functions of external memory and semaphores are
     * counted.
     */
    size_t (*calls)(const char *call);
    /* The call of a function with this number, counted from 0. NULL if there were fewer calls. */
    const struct recorded *(*nth)(const char *call, size_t number);
    /* Sets the result that a function returns from now on. */
    void (*answer)(const char *call, CUresult code);
};

#endif
