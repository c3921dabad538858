/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runtime API share: how a function is exported, how it begins and ends, and
 * whose default stream it means. The work is the software driver's: nothing here knows how.
 */
#ifndef GR_SOFTCUDA_RUNTIME_RUNTIME_H
#define GR_SOFTCUDA_RUNTIME_RUNTIME_H

/* Asks the toolkit's headers for the prototypes of each symbol under its own name, those for the
 * per-thread default stream too, so that the compiler checks each function against them. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Exporting. What is defined with these is what is implemented: the Makefile reads the objects'
 * symbols and makes a stub of everything else that the headers declare (unsupported.awk).
 *
 * RT_API starts the definition. RT_API_ptsz and RT_API_ptds do so, and define the twin of the
 * function from it: a NULL or implied stream is the calling thread's own during the call.
 */
#define RT_API __attribute__((visibility("default"))) cudaError_t CUDARTAPI

#define RT_PER_THREAD_TWIN(symbol, name, params, args)                                             \
    __attribute__((visibility("default"))) cudaError_t CUDARTAPI symbol params;                    \
    __attribute__((visibility("default"))) cudaError_t CUDARTAPI symbol params                     \
    {                                                                                              \
        rt_per_thread = true;                                                                      \
        cudaError_t result = name args;                                                            \
        rt_per_thread = false;                                                                     \
        return result;                                                                             \
    }
#define RT_API_ptsz(name, params, args)                                                            \
    RT_PER_THREAD_TWIN(name##_ptsz, name, params, args) RT_API name params
#define RT_API_ptds(name, params, args)                                                            \
    RT_PER_THREAD_TWIN(name##_ptds, name, params, args) RT_API name params

extern _Thread_local bool rt_per_thread;

/* The stream that a caller named: in a twin's call, NULL is the thread's own. */
CUstream rt_stream(cudaStream_t stream);

/* Calls the driver's function that works on the default stream. */
#define RT_DEFAULT_STREAM(name, args) (rt_per_thread ? name##_ptds args : name args)

/* ---- Begin and end of a call (context.c, error.c) -------------------------------------------- */

/* Starts the driver. */
CUresult rt_start(void);

/* Starts the driver, and sees to it that the thread has a current context: its own, whoever made
 * it, or else the primary context of its device. */
CUresult rt_begin(void);

/* The device of the calling thread; starts no context. */
int rt_device(void);

/* The primary context of a device, alive. */
CUresult rt_primary(int device, CUcontext *context);

/* The runtime's code for what the driver said, and for nothing but success kept as the thread's
 * last error. The numbers are the same. */
cudaError_t rt_end(CUresult result);
cudaError_t rt_fail(cudaError_t error);

/* Forgets an error that the context, which has ended, would have kept. */
void rt_error_forget(void);

/* The whole of a function that is the driver's under another name: begin, call, end. */
#define RT_IN_CONTEXT(call) rt_end((rt_begun = rt_begin()) != CUDA_SUCCESS ? rt_begun : (call))
#define RT_STARTED(call)    rt_end((rt_begun = rt_start()) != CUDA_SUCCESS ? rt_begun : (call))
extern _Thread_local CUresult rt_begun;

/* For a function, or a case of one, that isn't implemented: says so once on stderr (*logged is the
 * memory of that, a static that starts as 0) and fails with cudaErrorNotSupported. */
cudaError_t rt_unsupported(int *logged, const char *what);

#endif
