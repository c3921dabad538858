/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA contexts besides the fixture's, and copies of arrays. Part of support.h. */
#ifndef GR_TESTS_SUPPORT_CUDA_H
#define GR_TESTS_SUPPORT_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/cuda.h>

CUcontext current_context(void);

/* A new context of the fixture's device, now current, and a stream in it unless that is NULL. */
CUcontext new_context(CUstream *stream);

/* Destroys it, and makes the fixture's context current. */
void end_context(CUcontext context);

/* Launches a kernel of blocks of 64 threads for at least `count` threads, on fx.stream. */
void launch_kernel(CUmodule module, const char *name, size_t count, void **parameters);

/* Copies a two-dimensional array to host memory, or back, on fx.stream; does not wait. */
CUDA_MEMCPY2D array_copy(CUarray array, void *host, size_t row, size_t height, bool to_array);
void copy_array(CUarray array, void *host, size_t row, size_t height, bool to_array);

#endif
