/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Declarations for all files of the runtime API: how a function is exported, how it begins and
 * ends, and which default stream it uses. The software driver does the work.
 */
#ifndef GR_SOFTCUDA_RUNTIME_RUNTIME_H
#define GR_SOFTCUDA_RUNTIME_RUNTIME_H

#include "softcuda/driver/export.h"

#include <cuda_runtime_api.h>

/*
 * RT_API starts the definition of a function. RT_API_with_twin defines a function that makes a call
 * in the context of the thread, and the twin of the function for the per-thread default stream.
 * `variable` is declared before the call, or empty.
 */
#define RT_API SOFT_EXPORTED cudaError_t CUDARTAPI
#define RT_API_with_twin(name, twin, params, variable, call)                                       \
    SOFT_PER_THREAD_TWIN(cudaError_t, rt_per_thread, twin, params, variable, RT_IN_CONTEXT(call))  \
    RT_API name params                                                                             \
    {                                                                                              \
        variable;                                                                                  \
        return RT_IN_CONTEXT(call);                                                                \
    }

extern _Thread_local bool rt_per_thread;

/* The stream that a caller passed. In the call of a twin, NULL is the per-thread default stream. */
CUstream rt_stream(cudaStream_t stream);

/* Calls a driver function that uses the default stream. */
#define RT_DEFAULT_STREAM(name, args) (rt_per_thread ? name##_ptds args : name args)

/* ---- Begin and end of a call (context.c, error.c) -------------------------------------------- */

/* Initialises the driver. */
CUresult rt_start(void);

/*
 * Initialises the driver and ensures that the thread has a current context. If there is none, the
 * primary context of the thread's device becomes current.
 */
CUresult rt_begin(void);

/* The device of the calling thread. Starts no context. */
int rt_device(void);

/* Gets the primary context of a device. Starts the context if it is not active. */
CUresult rt_primary(int device, CUcontext *context);

/*
 * Converts a result of the driver to the runtime's code, which has the same number. Any error
 * except cudaErrorNotReady becomes the last error of the thread.
 */
cudaError_t rt_end(CUresult result);
cudaError_t rt_fail(cudaError_t error);

/* Clears the thread's last error after its context was reset. */
void rt_error_clear(void);

/* The whole body of a function that calls the driver: begin, call, end. */
#define RT_IN_CONTEXT(call) rt_end((rt_begun = rt_begin()) != CUDA_SUCCESS ? rt_begun : (call))
#define RT_STARTED(call)    rt_end((rt_begun = rt_start()) != CUDA_SUCCESS ? rt_begun : (call))
extern _Thread_local CUresult rt_begun;

/* Define functions that only call the driver, in the context of the thread or without one. */
#define RT_BODY(result)                                                                            \
    {                                                                                              \
        return result;                                                                             \
    }
#define RT_FORWARD(name, params, call)         RT_API name params RT_BODY(RT_IN_CONTEXT(call))
#define RT_FORWARD_STARTED(name, params, call) RT_API name params RT_BODY(RT_STARTED(call))
#define RT_FORWARD_ptsz(name, params, call)    RT_API_with_twin(name, name##_ptsz, params, , call)
#define RT_FORWARD_ptds(name, params, call)    RT_API_with_twin(name, name##_ptds, params, , call)

/*
 * For functions and cases that are not implemented: reports `what` once on stderr and returns
 * cudaErrorNotSupported. *logged is a static variable of the caller; it is 0 until the report.
 */
cudaError_t rt_unsupported(int *logged, const char *what);

#endif
