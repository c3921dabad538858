/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations for all kinds of copies. */
#ifndef GR_SOFTCUDA_RUNTIME_COPY_H
#define GR_SOFTCUDA_RUNTIME_COPY_H

#include "softcuda/runtime/runtime.h"

/* Whether a call's copies are complete when it returns, or are queued on the stream. */
typedef struct {
    bool queued;
    CUstream stream;
} rt_order;

#define RT_BLOCKING         ((rt_order){.queued = false})
#define RT_QUEUED_ON(named) ((rt_order){.queued = true, .stream = rt_stream(named)})

/*
 * Defines a function and its variant NAMEAsync, which has a stream as the last parameter. `call`
 * uses the variable `order`.
 */
#define RT_API_both(name, params, call)                                                            \
    RT_API_with_twin(name, name##_ptds, params, const rt_order order = RT_BLOCKING, call)          \
        RT_API_with_twin(name##Async, name##Async_ptsz, (SOFT_LIST params, cudaStream_t stream),   \
                         const rt_order order = RT_QUEUED_ON(stream), call)

/* Copies bytes between addresses; cudaErrorInvalidMemcpyDirection for an invalid kind. */
CUresult rt_copy_bytes(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                       rt_order order);

/* Copies a box between pitched memory and arrays. The memory types in the box are already set. */
CUresult rt_copy_box(const CUDA_MEMCPY3D *box, rt_order order);

/*
 * Set one side of a box, except its position: the array or, if it is NULL, the memory. The kind of
 * the copy determines the type of the memory.
 */
void rt_box_from(CUDA_MEMCPY3D *box, cudaArray_const_t array, const void *memory, size_t pitch,
                 enum cudaMemcpyKind kind);
void rt_box_to(CUDA_MEMCPY3D *box, cudaArray_const_t array, void *memory, size_t pitch,
               enum cudaMemcpyKind kind);

/* The box that the parameters describe. */
CUresult rt_box_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *box);

static inline bool rt_is_kind(enum cudaMemcpyKind kind)
{
    return (unsigned)kind <= (unsigned)cudaMemcpyDefault;
}

#define RT_ERROR_DIRECTION ((CUresult)cudaErrorInvalidMemcpyDirection)
#define RT_ERROR_PITCH     ((CUresult)cudaErrorInvalidPitchValue)

#endif
