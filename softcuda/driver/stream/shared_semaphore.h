/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The software driver's own semaphores, for graphics APIs on the CPU, whose own semaphores cannot
 * be exported. The semaphores are passed to other processes as file descriptors and imported by
 * cuImportExternalSemaphore, as OPAQUE_FD (binary) or TIMELINE_SEMAPHORE_FD. Programs look up the
 * functions in the driver with dlsym(); a GPU driver does not have these functions. They do not
 * need cuInit, and any thread may call them, even in a host function.
 */
#ifndef GR_SOFTCUDA_DRIVER_SHARED_SEMAPHORE_H
#define GR_SOFTCUDA_DRIVER_SHARED_SEMAPHORE_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#define SOFT_SEMAPHORE_API __attribute__((visibility("default")))

/*
 * A semaphore that this process has mapped. It is reference-counted: all opens of the same
 * semaphore return the same object.
 */
typedef struct gr_softcuda_semaphore gr_softcuda_semaphore;

/*
 * Creates a semaphore and its descriptor, which belongs to the caller and is closed on exec.
 * `value` is the initial value: any number for a timeline, 0 (unsignalled) or 1 for a binary
 * semaphore. CUDA_ERROR_INVALID_VALUE for another value, or if `fd` is NULL;
 * CUDA_ERROR_OPERATING_SYSTEM if the kernel provides no memory or descriptor.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_create(int timeline, unsigned long long value,
                                                         int *fd);

/*
 * Maps the semaphore of a descriptor, which the caller keeps. CUDA_ERROR_INVALID_VALUE if it is not
 * the descriptor of such a semaphore; CUDA_ERROR_OUT_OF_MEMORY.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_open(int fd, gr_softcuda_semaphore **semaphore);

/* Drops the reference that gr_softcuda_semaphore_open() added. NULL is allowed. */
SOFT_SEMAPHORE_API void gr_softcuda_semaphore_close(gr_softcuda_semaphore *semaphore);

/*
 * Signals from the host, immediately. A timeline gets the value. CUDA_ERROR_INVALID_VALUE, without
 * a change, if the value is not greater than the present value of the timeline, or if a binary
 * semaphore is already signalled.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_signal(gr_softcuda_semaphore *semaphore,
                                                         unsigned long long value);

/* The present value; 0 or 1 for a binary semaphore. */
SOFT_SEMAPHORE_API unsigned long long gr_softcuda_semaphore_value(
    const gr_softcuda_semaphore *semaphore);

/*
 * Blocks the calling thread until a timeline has at least the value, or until a binary semaphore is
 * signalled, which the wait resets. CUDA_ERROR_NOT_READY after `milliseconds`; with a negative
 * number the call waits without a limit.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_wait(gr_softcuda_semaphore *semaphore,
                                                       unsigned long long value, int milliseconds);

/* The function types for dlsym(). */
typedef CUresult (*PFN_gr_softcuda_semaphore_create)(int, unsigned long long, int *);
typedef CUresult (*PFN_gr_softcuda_semaphore_open)(int, gr_softcuda_semaphore **);
typedef void (*PFN_gr_softcuda_semaphore_close)(gr_softcuda_semaphore *);
typedef CUresult (*PFN_gr_softcuda_semaphore_signal)(gr_softcuda_semaphore *, unsigned long long);
typedef unsigned long long (*PFN_gr_softcuda_semaphore_value)(const gr_softcuda_semaphore *);
typedef CUresult (*PFN_gr_softcuda_semaphore_wait)(gr_softcuda_semaphore *, unsigned long long,
                                                   int);

/* ---- Within the driver ----------------------------------------------------------------------- */

bool soft_semaphore_is_timeline(const gr_softcuda_semaphore *semaphore);

/* Adds a reference, which gr_softcuda_semaphore_close() drops. */
void soft_semaphore_hold(gr_softcuda_semaphore *semaphore);

/* Like gr_softcuda_semaphore_signal(), but logs errors and returns false. */
bool soft_semaphore_signal(gr_softcuda_semaphore *semaphore, uint64_t value);

/*
 * Like gr_softcuda_semaphore_wait(), for at most SOFT_SEMAPHORE_SLICE milliseconds; false after
 * that time. Waits are divided into such slices, because a peer may die after its signal, before it
 * wakes the waiting threads.
 */
#define SOFT_SEMAPHORE_SLICE 50
bool soft_semaphore_wait_slice(gr_softcuda_semaphore *semaphore, uint64_t value);

#endif
