/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream-ordered memory, and the pools that allocate it. */
#include "softcuda/runtime/runtime.h"

#include <stdint.h>

/*
 * The structs and constants of the runtime API have the same layout and values as in the driver
 * API.
 */
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "cudaMemPoolProps");
_Static_assert(offsetof(struct cudaMemPoolProps, maxSize) == offsetof(CUmemPoolProps, maxSize),
               "cudaMemPoolProps");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "cudaMemAccessDesc");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "cudaMemLocation");

RT_FORWARD_ptsz(cudaMallocAsync, (void **devPtr, size_t size, cudaStream_t hStream),
                cuMemAllocAsync((CUdeviceptr *)devPtr, size, rt_stream(hStream)))
RT_FORWARD_ptsz(cudaFreeAsync, (void *devPtr, cudaStream_t hStream),
                cuMemFreeAsync((CUdeviceptr)(uintptr_t)devPtr, rt_stream(hStream)))
RT_FORWARD_ptsz(cudaMallocFromPoolAsync,
                (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
                cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size, memPool, rt_stream(stream)))

RT_API cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return RT_STARTED(cuDeviceGetDefaultMemPool(memPool, device));
}

RT_FORWARD_STARTED(cudaDeviceGetMemPool, (cudaMemPool_t * memPool, int device),
                   cuDeviceGetMemPool(memPool, device))
RT_FORWARD_STARTED(cudaDeviceSetMemPool, (int device, cudaMemPool_t memPool),
                   cuDeviceSetMemPool(device, memPool))
RT_FORWARD_STARTED(cudaMemPoolCreate,
                   (cudaMemPool_t * memPool, const struct cudaMemPoolProps *poolProps),
                   cuMemPoolCreate(memPool, (const CUmemPoolProps *)(const void *)poolProps))
RT_FORWARD_STARTED(cudaMemPoolDestroy, (cudaMemPool_t memPool), cuMemPoolDestroy(memPool))
RT_FORWARD_STARTED(cudaMemPoolTrimTo, (cudaMemPool_t memPool, size_t minBytesToKeep),
                   cuMemPoolTrimTo(memPool, minBytesToKeep))
RT_FORWARD_STARTED(cudaMemPoolSetAttribute,
                   (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
                   cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value))
RT_FORWARD_STARTED(cudaMemPoolGetAttribute,
                   (cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value),
                   cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value))
RT_FORWARD_STARTED(cudaMemPoolSetAccess,
                   (cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList, size_t count),
                   cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)(const void *)descList,
                                      count))
RT_FORWARD_STARTED(cudaMemPoolGetAccess,
                   (enum cudaMemAccessFlags * flags, cudaMemPool_t memPool,
                    struct cudaMemLocation *location),
                   cuMemPoolGetAccess((CUmemAccess_flags *)(void *)flags, memPool,
                                      (CUmemLocation *)(void *)location))
RT_FORWARD_STARTED(cudaMemGetDefaultMemPool,
                   (cudaMemPool_t * memPool, struct cudaMemLocation *location,
                    enum cudaMemAllocationType type),
                   cuMemGetDefaultMemPool(memPool, (CUmemLocation *)(void *)location,
                                          (CUmemAllocationType)type))
RT_FORWARD_STARTED(cudaMemGetMemPool,
                   (cudaMemPool_t * memPool, struct cudaMemLocation *location,
                    enum cudaMemAllocationType type),
                   cuMemGetMemPool(memPool, (CUmemLocation *)(void *)location,
                                   (CUmemAllocationType)type))
RT_FORWARD_STARTED(cudaMemSetMemPool,
                   (struct cudaMemLocation * location, enum cudaMemAllocationType type,
                    cudaMemPool_t memPool),
                   cuMemSetMemPool((CUmemLocation *)(void *)location, (CUmemAllocationType)type,
                                   memPool))
