/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Device and host memory, managed memory, and pointer attributes. */
#include "softcuda/runtime/runtime.h"

#include <stdint.h>
#include <string.h>

/* For a size of 0 the pointer is NULL, which cudaFree accepts. */
static CUresult allocate(void **pointer, size_t size)
{
    CUdeviceptr made = 0;
    SOFT_TRY(size > 0 ? cuMemAlloc_v2(&made, size) : CUDA_SUCCESS);
    *pointer = (void *)(uintptr_t)made;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaMalloc, (void **devPtr, size_t size),
           devPtr ? allocate(devPtr, size) : CUDA_ERROR_INVALID_VALUE)
RT_FORWARD(cudaFree, (void *devPtr),
           devPtr ? cuMemFree_v2((CUdeviceptr)(uintptr_t)devPtr) : CUDA_SUCCESS)

static CUresult allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t rows)
{
    CUdeviceptr made = 0;
    size_t made_pitch = 0;
    if (width > 0 && rows > 0)
        SOFT_TRY(cuMemAllocPitch_v2(&made, &made_pitch, width, rows, 4));
    *pointer = (void *)(uintptr_t)made;
    *pitch = made_pitch;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaMallocPitch, (void **devPtr, size_t *pitch, size_t width, size_t height),
           devPtr &&pitch ? allocate_pitch(devPtr, pitch, width, height) : CUDA_ERROR_INVALID_VALUE)

static CUresult allocate_3d(struct cudaPitchedPtr *to, struct cudaExtent extent)
{
    void *pointer = NULL;
    size_t pitch = 0, rows;
    SOFT_FAIL_IF(__builtin_mul_overflow(extent.height, extent.depth, &rows),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(allocate_pitch(&pointer, &pitch, extent.width, rows));
    *to = (struct cudaPitchedPtr){
        .ptr = pointer, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaMalloc3D, (struct cudaPitchedPtr * pitchedDevPtr, struct cudaExtent extent),
           pitchedDevPtr ? allocate_3d(pitchedDevPtr, extent) : CUDA_ERROR_INVALID_VALUE)

static CUresult allocate_managed(void **pointer, size_t size, unsigned int flags)
{
    CUdeviceptr made = 0;
    SOFT_TRY(size > 0 ? cuMemAllocManaged(&made, size, flags) : CUDA_SUCCESS);
    *pointer = (void *)(uintptr_t)made;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaMallocManaged, (void **devPtr, size_t size, unsigned int flags),
           devPtr ? allocate_managed(devPtr, size, flags) : CUDA_ERROR_INVALID_VALUE)
RT_FORWARD(cudaMemGetInfo, (size_t * free, size_t *total), cuMemGetInfo_v2(free, total))

/* ---- Host memory ----------------------------------------------------------------------------- */

static CUresult allocate_host(void **pointer, size_t size, unsigned flags)
{
    void *made = NULL;
    SOFT_TRY(size > 0 ? cuMemHostAlloc(&made, size, flags) : CUDA_SUCCESS);
    *pointer = made;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaMallocHost, (void **ptr, size_t size),
           ptr ? allocate_host(ptr, size, 0) : CUDA_ERROR_INVALID_VALUE)
RT_FORWARD(cudaHostAlloc, (void **pHost, size_t size, unsigned int flags),
           pHost ? allocate_host(pHost, size, flags) : CUDA_ERROR_INVALID_VALUE)
RT_FORWARD(cudaFreeHost, (void *ptr), ptr ? cuMemFreeHost(ptr) : CUDA_SUCCESS)
RT_FORWARD(cudaHostRegister, (void *ptr, size_t size, unsigned int flags),
           cuMemHostRegister_v2(ptr, size, flags))
RT_FORWARD(cudaHostUnregister, (void *ptr), cuMemHostUnregister(ptr))
RT_FORWARD(cudaHostGetDevicePointer, (void **pDevice, void *pHost, unsigned int flags),
           cuMemHostGetDevicePointer_v2((CUdeviceptr *)pDevice, pHost, flags))
RT_FORWARD(cudaHostGetFlags, (unsigned int *pFlags, void *pHost), cuMemHostGetFlags(pFlags, pHost))

/* ---- Hints for managed memory ---------------------------------------------------------------- */

static CUmemLocation location_of(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

RT_FORWARD(cudaMemAdvise,
           (const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
            struct cudaMemLocation location),
           cuMemAdvise_v2((CUdeviceptr)(uintptr_t)devPtr, count, (CUmem_advise)advice,
                          location_of(location)))
RT_FORWARD_ptsz(cudaMemPrefetchAsync,
                (const void *devPtr, size_t count, struct cudaMemLocation location,
                 unsigned int flags, cudaStream_t stream),
                cuMemPrefetchAsync_v2((CUdeviceptr)(uintptr_t)devPtr, count, location_of(location),
                                      flags, rt_stream(stream)))
RT_FORWARD(cudaMemRangeGetAttribute,
           (void *data, size_t dataSize, enum cudaMemRangeAttribute attribute, const void *devPtr,
            size_t count),
           cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute,
                                  (CUdeviceptr)(uintptr_t)devPtr, count))
RT_FORWARD_ptsz(cudaStreamAttachMemAsync,
                (cudaStream_t stream, void *devPtr, size_t length, unsigned int flags),
                cuStreamAttachMemAsync(rt_stream(stream), (CUdeviceptr)(uintptr_t)devPtr, length,
                                       flags))

/* ---- Pointers -------------------------------------------------------------------------------- */

/* Memory that CUDA does not know is described as host memory. This is not an error. */
static CUresult describe(struct cudaPointerAttributes *to, const void *pointer)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)pointer;
    unsigned type = 0, managed = 0;
    memset(to, 0, sizeof(*to));
    to->type = cudaMemoryTypeUnregistered;
    to->device = cudaInvalidDeviceId;
    to->hostPointer = (void *)(uintptr_t)pointer;
    CUresult result = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    if (result == CUDA_ERROR_INVALID_VALUE)
        return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        return result;
    to->hostPointer = NULL;
    (void)cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, at);
    (void)cuPointerGetAttribute(&to->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at);
    (void)cuPointerGetAttribute(&to->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at);
    (void)cuPointerGetAttribute(&to->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER, at);
    to->type = managed                      ? cudaMemoryTypeManaged
               : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                            : cudaMemoryTypeDevice;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *ptr),
           attributes ? describe(attributes, ptr) : CUDA_ERROR_INVALID_VALUE)
