/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels and variables of the program itself, which are in no module. The runtime API uses this
 * interface of the driver in addition to the public entry points.
 */
#ifndef GR_SOFTCUDA_DRIVER_PROGRAM_H
#define GR_SOFTCUDA_DRIVER_PROGRAM_H

#include <cuda.h>
#include <grinterop/cuhost.h>

#include <stdbool.h>
#include <stddef.h>

#define SOFT_PROGRAM_API __attribute__((visibility("default")))

/*
 * Gets the CUfunction of a kernel. Each call returns the same CUfunction, which is valid in every
 * context until the process exits. The record must also stay valid until then. For a record of
 * another version, logs the remedy and returns CUDA_ERROR_NO_BINARY_FOR_GPU.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_function(const gr_cuhost_kernel *kernel,
                                               CUfunction *function);

/*
 * Registers a variable as memory of every device, or as managed memory, so that copies and queries
 * accept its address. Registering it again is not an error. May be called before cuInit.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_variable(void *address, size_t size, bool is_managed);

/* Unregisters the variable. Its memory may then be reused. */
SOFT_PROGRAM_API void gr_softcuda_forget_variable(const void *address);

/*
 * For a failed assertion. If this thread runs a kernel, prints the message and ends the kernel, and
 * from then on the kernel's context returns CUDA_ERROR_ASSERT. If this thread runs no kernel, the
 * function returns. (kernel_assert.c)
 */
SOFT_PROGRAM_API void gr_softcuda_assert(const char *expression, const char *file, unsigned line,
                                         const unsigned block[3], const unsigned thread[3]);

#endif
