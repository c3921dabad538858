/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and variables of the program itself, which are in no module: what the runtime API asks of
 * the driver beyond its entry points.
 */
#ifndef GR_SOFTCUDA_DRIVER_PROGRAM_H
#define GR_SOFTCUDA_DRIVER_PROGRAM_H

#include <cuda.h>
#include <grinterop/cuhost.h>

#include <stdbool.h>
#include <stddef.h>

#define SOFT_PROGRAM_API __attribute__((visibility("default")))

/*
 * The kernel as a CUfunction, which belongs to no context and is the same at each call: it lasts as
 * long as the process, and so must the record. CUDA_ERROR_NO_BINARY_FOR_GPU, with a line that says
 * what to do, for a record of another version.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_function(const gr_cuhost_kernel *kernel,
                                               CUfunction *function);

/*
 * Makes a variable known as memory of the device, of every one, or as managed memory: copies and
 * queries take its address. Again for the same one is no error. Good before cuInit, too.
 */
SOFT_PROGRAM_API CUresult gr_softcuda_variable(void *address, size_t size, bool is_managed);

/* Its memory is another's from now on. */
SOFT_PROGRAM_API void gr_softcuda_forget_variable(const void *address);

/*
 * An assertion has failed: where this thread runs a kernel it says so and ends that kernel, whose
 * context gives CUDA_ERROR_ASSERT from then on. Returns where it runs none. (kernel_assert.c)
 */
SOFT_PROGRAM_API void gr_softcuda_assert(const char *expression, const char *file, unsigned line,
                                         const unsigned block[3], const unsigned thread[3]);

#endif
