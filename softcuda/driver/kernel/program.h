/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels and variables of the program itself, which are in no module: the driver interface that
 * the runtime API uses beyond the public entry points.
 */
#ifndef GR_SOFTCUDA_DRIVER_PROGRAM_H
#define GR_SOFTCUDA_DRIVER_PROGRAM_H

#include <cuda.h>
#include <grinterop/cuhost.h>

#include <stdbool.h>
#include <stddef.h>

#define SOFT_PROGRAM_API __attribute__((visibility("default")))

/*
 * The CUfunction of a kernel: the same at each call and valid in every context until the process
 * exits, as the record must be. For a record of another version, logs what to do and returns
 * CUDA_ERROR_NO_BINARY_FOR_GPU.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_function(const gr_cuhost_kernel *kernel,
                                               CUfunction *function);

/*
 * Registers a variable as memory of every device, or as managed memory, so that copies and queries
 * accept its address. Registering it again is not an error. May be called before cuInit.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_variable(void *address, size_t size, bool is_managed);

/* Unregisters the variable, whose memory may be reused from now on. */
SOFT_PROGRAM_API void gr_softcuda_forget_variable(const void *address);

/*
 * For a failed assertion: if this thread runs a kernel, prints the message and ends the kernel, and
 * its context returns CUDA_ERROR_ASSERT from then on. Otherwise returns. (kernel_assert.c)
 */
SOFT_PROGRAM_API void gr_softcuda_assert(const char *expression, const char *file, unsigned line,
                                         const unsigned block[3], const unsigned thread[3]);

#endif
