/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software driver's own kind of semaphore, for graphics APIs on the CPU, which cannot export
 * theirs. It crosses processes as a file descriptor and is imported by cuImportExternalSemaphore,
 * as OPAQUE_FD (binary) or TIMELINE_SEMAPHORE_FD. A program finds the functions with dlsym in the
 * driver; a GPU's driver has none of them. They need no cuInit, and any thread may call them, also
 * a host function.
 */
#ifndef GR_SOFTCUDA_DRIVER_SHARED_SEMAPHORE_H
#define GR_SOFTCUDA_DRIVER_SHARED_SEMAPHORE_H

#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#define SOFT_SEMAPHORE_API __attribute__((visibility("default")))

/* A semaphore that this process has mapped. Counted: one for all who opened the same one. */
typedef struct gr_softcuda_semaphore gr_softcuda_semaphore;

/*
 * Makes a semaphore and its descriptor, which is the caller's and closed on exec. value is what it
 * starts with: any number for a timeline, 0 (unsignalled) or 1 for a binary one.
 * CUDA_ERROR_INVALID_VALUE for another value or NULL, CUDA_ERROR_OPERATING_SYSTEM when the kernel
 * gives no memory or descriptor.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_create(int timeline, unsigned long long value,
                                                         int *fd);

/*
 * Maps the semaphore of a descriptor, which stays the caller's. CUDA_ERROR_INVALID_VALUE when it
 * isn't one of these semaphores, CUDA_ERROR_OUT_OF_MEMORY.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_open(int fd, gr_softcuda_semaphore **semaphore);

/* Drops the hold of the open. NULL is fine. */
SOFT_SEMAPHORE_API void gr_softcuda_semaphore_close(gr_softcuda_semaphore *semaphore);

/*
 * Signals from the host, at once. A timeline gets the value; CUDA_ERROR_INVALID_VALUE if that isn't
 * greater than the present one, or if a binary semaphore was signalled already: nothing changes
 * then.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_signal(gr_softcuda_semaphore *semaphore,
                                                         unsigned long long value);

/* The present value; of a binary semaphore 0 or 1. */
SOFT_SEMAPHORE_API unsigned long long gr_softcuda_semaphore_value(
    const gr_softcuda_semaphore *semaphore);

/*
 * Blocks the host until a timeline has at least the value, or until a binary semaphore is
 * signalled, which it resets. CUDA_ERROR_NOT_READY after that many milliseconds; a negative number
 * waits for ever.
 */
SOFT_SEMAPHORE_API CUresult gr_softcuda_semaphore_wait(gr_softcuda_semaphore *semaphore,
                                                       unsigned long long value, int milliseconds);

/* What dlsym gives. */
typedef CUresult (*PFN_gr_softcuda_semaphore_create)(int, unsigned long long, int *);
typedef CUresult (*PFN_gr_softcuda_semaphore_open)(int, gr_softcuda_semaphore **);
typedef void (*PFN_gr_softcuda_semaphore_close)(gr_softcuda_semaphore *);
typedef CUresult (*PFN_gr_softcuda_semaphore_signal)(gr_softcuda_semaphore *, unsigned long long);
typedef unsigned long long (*PFN_gr_softcuda_semaphore_value)(const gr_softcuda_semaphore *);
typedef CUresult (*PFN_gr_softcuda_semaphore_wait)(gr_softcuda_semaphore *, unsigned long long,
                                                   int);

/* ---- Within the driver ----------------------------------------------------------------------- */

bool soft_semaphore_is_timeline(const gr_softcuda_semaphore *semaphore);

/* One more hold, for gr_softcuda_semaphore_close to drop. */
void soft_semaphore_hold(gr_softcuda_semaphore *semaphore);

/* As gr_softcuda_semaphore_signal; false and a line in the log where that is an error. */
bool soft_semaphore_signal(gr_softcuda_semaphore *semaphore, uint64_t value);

/*
 * As gr_softcuda_semaphore_wait, for at most SOFT_SEMAPHORE_SLICE milliseconds; false: not yet.
 * Waits are done in slices, because a peer may die between its signal and its call that wakes us.
 */
#define SOFT_SEMAPHORE_SLICE 50
bool soft_semaphore_wait_slice(gr_softcuda_semaphore *semaphore, uint64_t value);

#endif
