/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The start and end of contexts: those that applications create, and primary contexts. */
#ifndef GR_SOFTCUDA_DRIVER_CONTEXT_H
#define GR_SOFTCUDA_DRIVER_CONTEXT_H

#include "softcuda/driver/stream/scheduler.h"

/* The highest stream priority. The lowest is 0. */
#define SOFT_GREATEST_PRIORITY (-5)

/*
 * Starts *context. If it is NULL, creates the context first. A primary context keeps its handle
 * when it starts again.
 */
CUresult soft_context_start(soft_context **context, CUdevice device, unsigned flags, bool primary);

/*
 * Finds the context of a handle. Returns CUDA_ERROR_INVALID_CONTEXT for an invalid handle,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED if the context has ended, or the context's sticky error. *context
 * is set unless the handle is invalid.
 */
CUresult soft_context_get(CUcontext handle, soft_context **context);

/* Removes the context from the calling thread's stack if it is on top of the stack. */
void soft_context_leave_if_current(CUcontext handle);

/* CUDA_ERROR_INVALID_VALUE for flags that cuCtxCreate and cuDevicePrimaryCtxSetFlags reject. */
CUresult soft_context_check_flags(unsigned flags);

/* The current CU_LIMIT_STACK_SIZE in bytes. */
size_t soft_context_stack_size(const soft_context *context);

/* ---- The end (context_end.c) ----------------------------------------------------------------- */

/* Waits for the context's work, then ends the context with all its objects. */
void soft_context_end(soft_context *context);

#endif
