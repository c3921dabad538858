/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * How the driver and the runtime API define their entry points. The Makefile reads the symbols of
 * the objects and generates stubs for all other functions of the headers (unsupported.awk).
 */
#ifndef GR_SOFTCUDA_DRIVER_EXPORT_H
#define GR_SOFTCUDA_DRIVER_EXPORT_H

/*
 * Makes the CUDA headers declare every versioned symbol under its own name, so that the compiler
 * checks each entry point against the header and no macro renames it.
 */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SOFT_EXPORTED __attribute__((visibility("default")))

/*
 * Defines the twin of an entry point for programs built with the per-thread default stream. `flag`
 * is set during `call`: CU_STREAM_PER_THREAD then replaces a NULL or implied stream. `variable` is
 * declared before the call, or empty.
 */
#define SOFT_PER_THREAD_TWIN(type, flag, twin, params, variable, call)                             \
    SOFT_EXPORTED type CUDAAPI twin params;                                                        \
    SOFT_EXPORTED type CUDAAPI twin params                                                         \
    {                                                                                              \
        flag = true;                                                                               \
        variable;                                                                                  \
        type result = call;                                                                        \
        flag = false;                                                                              \
        return result;                                                                             \
    }

/* Removes the brackets around a list, so that a macro can append to it. */
#define SOFT_LIST(...) __VA_ARGS__

/* Makes the calling function return the error if the call fails. */
#define SOFT_TRY(...)                                                                              \
    do {                                                                                           \
        CUresult tried_ = (__VA_ARGS__);                                                           \
        if (tried_ != CUDA_SUCCESS)                                                                \
            return tried_;                                                                         \
    } while (0)

/* Declares a variable, which the call sets; returns the error if the call fails. */
#define SOFT_GET(type, variable, ...)                                                              \
    type variable;                                                                                 \
    SOFT_TRY(__VA_ARGS__)

/* Makes the calling function return the error if the condition holds. */
#define SOFT_FAIL_IF(condition, error)                                                             \
    do {                                                                                           \
        if (condition)                                                                             \
            return error;                                                                          \
    } while (0)

/* Holds the mutex from here to the end of the block. */
#define SOFT_LOCK(mutex)          SOFT_LOCK_ON(__LINE__, mutex)
#define SOFT_LOCK_ON(line, mutex) SOFT_LOCK_AS(line, mutex)
#define SOFT_LOCK_AS(line, mutex)                                                                  \
    __attribute__((cleanup(soft_unlock), unused)) pthread_mutex_t *held_##line = soft_locked(mutex)

static inline pthread_mutex_t *soft_locked(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void soft_unlock(pthread_mutex_t **mutex)
{
    pthread_mutex_unlock(*mutex);
}

#endif
