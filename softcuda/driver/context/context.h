/* SPDX-License-Identifier: Apache-2.0 */
/* How contexts begin and end: shared by those that an application creates and the primary one. */
#ifndef GR_SOFTCUDA_DRIVER_CONTEXT_H
#define GR_SOFTCUDA_DRIVER_CONTEXT_H

#include "softcuda/driver/stream/scheduler.h"

/* Stream priorities go from 0, the least, to this. */
#define SOFT_GREATEST_PRIORITY (-5)

/* Brings *context to life, after making one if it is NULL. A primary context keeps its handle from
 * one life to the next. */
CUresult soft_context_start(soft_context **context, CUdevice device, unsigned flags, bool primary);

/* CUDA_ERROR_INVALID_CONTEXT if it isn't one, CUDA_ERROR_CONTEXT_IS_DESTROYED if it isn't alive, or
 * its sticky error. *context is set unless it isn't one. */
CUresult soft_context_get(CUcontext handle, soft_context **context);

/* Takes it off the thread's stack if it is on top. */
void soft_context_leave_if_current(CUcontext handle);

/* CUDA_ERROR_INVALID_VALUE for flags that cuCtxCreate and cuDevicePrimaryCtxSetFlags refuse. */
CUresult soft_context_check_flags(unsigned flags);

/* Bytes, as CU_LIMIT_STACK_SIZE says at this moment. */
size_t soft_context_stack_size(const soft_context *context);

/* ---- The end (context_end.c) ----------------------------------------------------------------- */

/* Waits for the context's work, then ends it with all that belongs to it. */
void soft_context_end(soft_context *context);

#endif
