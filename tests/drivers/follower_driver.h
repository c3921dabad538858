/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The interface of the follower driver for tests: cuda_symbol("follower_api", 2000) returns a
 * pointer to a struct follower_api once grinterop has loaded the driver.
 */
#ifndef GR_TESTS_FOLLOWER_DRIVER_H
#define GR_TESTS_FOLLOWER_DRIVER_H

#include <cuda.h>
#include <stddef.h>

/* A call about graphics resources as the driver received it. */
struct followed {
    const char *call;
    CUgraphicsResource resource; /* the first resource in the call */
    unsigned count, flags, name, target;
    CUstream stream;
    /*
     * The handle of an import, whose type is `target` and whose size is `count`. Each semaphore of
     * a signal or wait is a call, whose value is `count`.
     */
    void *handle;
};

/* The contents of the section behind a semaphore handle. */
struct follower_semaphore {
    void (*signal)(void *user, unsigned long long value);
    void (*wait)(void *user, unsigned long long value);
    void *user;
};

struct follower_api {
    /* Discards the recorded calls and the registrations, and makes all calls succeed again. */
    void (*reset)(void);
    /*
     * The call with this number, counted from 0 over all functions. NULL if there were fewer calls.
     */
    const struct followed *(*nth)(size_t number);
    /* Makes a function return this code without doing anything. CUDA_SUCCESS cancels that. */
    void (*answer)(const char *call, CUresult code);
    /* The number of registered resources, and the number of mapped resources. */
    size_t (*registered)(void);
    size_t (*mapped)(void);
    /* Sets the UUID and the LUID of the device. */
    void (*identify)(const unsigned char uuid[16], const unsigned char luid[8]);
};

#endif
