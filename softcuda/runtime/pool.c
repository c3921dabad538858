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

RT_API_ptsz(cudaMallocAsync, (void **devPtr, size_t size, cudaStream_t hStream),
            (devPtr, size, hStream))
{
    return RT_IN_CONTEXT(cuMemAllocAsync((CUdeviceptr *)devPtr, size, rt_stream(hStream)));
}

RT_API_ptsz(cudaFreeAsync, (void *devPtr, cudaStream_t hStream), (devPtr, hStream))
{
    return RT_IN_CONTEXT(cuMemFreeAsync((CUdeviceptr)(uintptr_t)devPtr, rt_stream(hStream)));
}

RT_API_ptsz(cudaMallocFromPoolAsync,
            (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
            (ptr, size, memPool, stream))
{
    return RT_IN_CONTEXT(
        cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size, memPool, rt_stream(stream)));
}

RT_API cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return RT_STARTED(cuDeviceGetDefaultMemPool(memPool, device));
}

RT_API cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return RT_STARTED(cuDeviceGetMemPool(memPool, device));
}

RT_API cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return RT_STARTED(cuDeviceSetMemPool(device, memPool));
}

RT_API cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    return RT_STARTED(cuMemPoolCreate(memPool, (const CUmemPoolProps *)(const void *)poolProps));
}

RT_API cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return RT_STARTED(cuMemPoolDestroy(memPool));
}

RT_API cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return RT_STARTED(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

RT_API cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    return RT_STARTED(cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

RT_API cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    return RT_STARTED(cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

RT_API cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                            size_t count)
{
    return RT_STARTED(
        cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)(const void *)descList, count));
}

RT_API cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                            struct cudaMemLocation *location)
{
    return RT_STARTED(cuMemPoolGetAccess((CUmemAccess_flags *)(void *)flags, memPool,
                                         (CUmemLocation *)(void *)location));
}

RT_API cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                                enum cudaMemAllocationType type)
{
    return RT_STARTED(cuMemGetDefaultMemPool(memPool, (CUmemLocation *)(void *)location,
                                             (CUmemAllocationType)type));
}

RT_API cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
                         enum cudaMemAllocationType type)
{
    return RT_STARTED(
        cuMemGetMemPool(memPool, (CUmemLocation *)(void *)location, (CUmemAllocationType)type));
}

RT_API cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                         cudaMemPool_t memPool)
{
    return RT_STARTED(
        cuMemSetMemPool((CUmemLocation *)(void *)location, (CUmemAllocationType)type, memPool));
}
