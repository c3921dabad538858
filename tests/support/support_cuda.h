/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA contexts in addition to the fixture's context, and copies of arrays. Part of support.h. */
#ifndef GR_TESTS_SUPPORT_CUDA_H
#define GR_TESTS_SUPPORT_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/cuda.h>

CUcontext current_context(void);

/*
 * Creates a context on the fixture's device and makes it current. Also creates a stream in it
 * unless `stream` is NULL.
 */
CUcontext new_context(CUstream *stream);

/* Destroys the context, and makes the fixture's context current. */
void end_context(CUcontext context);

/* Launches a kernel on fx.stream in blocks of 64 threads, for at least `count` threads. */
void launch_kernel(CUmodule module, const char *name, size_t count, void **parameters);

/*
 * Begin the capture of a graph in the stream. Unsafe driver calls of any thread invalidate it,
 * unless it is relaxed. First, both end the capture before, whose graph must be valid and empty;
 * for NULL, they do nothing else. drop_capture() is a teardown for cases that may fail in a
 * capture.
 */
void capture_graph(CUstream stream);
void capture_graph_relaxed(CUstream stream);
void drop_capture(void);

/*
 * copy_array() copies a two-dimensional array to host memory, or the reverse, on fx.stream. It does
 * not wait. array_copy() only describes such a copy.
 */
CUDA_MEMCPY2D array_copy(CUarray array, void *host, size_t row, size_t height, bool to_array);
void copy_array(CUarray array, void *host, size_t row, size_t height, bool to_array);

#endif
