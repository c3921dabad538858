/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory and semaphores of other APIs. Handle types and flags have the same values as in the driver
 * API.
 */
#include "softcuda/runtime/channel.h"

#include <stdint.h>
#include <string.h>

static CUresult import_memory(cudaExternalMemory_t *memory,
                              const struct cudaExternalMemoryHandleDesc *desc)
{
    SOFT_FAIL_IF(!memory || !desc, CUDA_ERROR_INVALID_VALUE);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC driver = {
        .type = (CUexternalMemoryHandleType)desc->type, .size = desc->size, .flags = desc->flags};
    _Static_assert(sizeof(driver.handle) == sizeof(desc->handle),
                   "the handle must have the driver's size");
    memcpy(&driver.handle, &desc->handle, sizeof(driver.handle));
    return cuImportExternalMemory((CUexternalMemory *)memory, &driver);
}

RT_FORWARD(cudaImportExternalMemory,
           (cudaExternalMemory_t * extMem_out,
            const struct cudaExternalMemoryHandleDesc *memHandleDesc),
           import_memory(extMem_out, memHandleDesc))
RT_FORWARD(cudaDestroyExternalMemory, (cudaExternalMemory_t extMem),
           cuDestroyExternalMemory((CUexternalMemory)extMem))

static CUresult map_buffer(void **pointer, cudaExternalMemory_t memory,
                           const struct cudaExternalMemoryBufferDesc *desc)
{
    CUdeviceptr mapped = 0;
    SOFT_FAIL_IF(!pointer || !desc, CUDA_ERROR_INVALID_VALUE);
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC driver = {
        .offset = desc->offset, .size = desc->size, .flags = desc->flags};
    SOFT_TRY(cuExternalMemoryGetMappedBuffer(&mapped, (CUexternalMemory)memory, &driver));
    *pointer = (void *)(uintptr_t)mapped;
    return CUDA_SUCCESS;
}

RT_FORWARD(cudaExternalMemoryGetMappedBuffer,
           (void **devPtr, cudaExternalMemory_t extMem,
            const struct cudaExternalMemoryBufferDesc *bufferDesc),
           map_buffer(devPtr, extMem, bufferDesc))

static CUresult map_image(cudaMipmappedArray_t *image, cudaExternalMemory_t memory,
                          const struct cudaExternalMemoryMipmappedArrayDesc *desc)
{
    SOFT_FAIL_IF(!image || !desc, CUDA_ERROR_INVALID_VALUE);
    SOFT_GET(rt_format, format, rt_format_of(&desc->formatDesc, &format));
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC driver = {
        .offset = desc->offset,
        .arrayDesc = {.Width = desc->extent.width,
                      .Height = desc->extent.height,
                      .Depth = desc->extent.depth,
                      .Format = format.format,
                      .NumChannels = format.channels,
                      .Flags = desc->flags},
        .numLevels = desc->numLevels};
    return cuExternalMemoryGetMappedMipmappedArray((CUmipmappedArray *)image,
                                                   (CUexternalMemory)memory, &driver);
}

RT_FORWARD(cudaExternalMemoryGetMappedMipmappedArray,
           (cudaMipmappedArray_t * mipmap, cudaExternalMemory_t extMem,
            const struct cudaExternalMemoryMipmappedArrayDesc *mipmapDesc),
           map_image(mipmap, extMem, mipmapDesc))

/* ---- Semaphores ------------------------------------------------------------------------------ */

static CUresult import_semaphore(cudaExternalSemaphore_t *semaphore,
                                 const struct cudaExternalSemaphoreHandleDesc *desc)
{
    SOFT_FAIL_IF(!semaphore || !desc, CUDA_ERROR_INVALID_VALUE);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC driver = {.type = (CUexternalSemaphoreHandleType)desc->type,
                                                  .flags = desc->flags};
    _Static_assert(sizeof(driver.handle) == sizeof(desc->handle),
                   "the handle must have the driver's size");
    memcpy(&driver.handle, &desc->handle, sizeof(driver.handle));
    return cuImportExternalSemaphore((CUexternalSemaphore *)semaphore, &driver);
}

RT_FORWARD(cudaImportExternalSemaphore,
           (cudaExternalSemaphore_t * extSem_out,
            const struct cudaExternalSemaphoreHandleDesc *semHandleDesc),
           import_semaphore(extSem_out, semHandleDesc))
RT_FORWARD(cudaDestroyExternalSemaphore, (cudaExternalSemaphore_t extSem),
           cuDestroyExternalSemaphore((CUexternalSemaphore)extSem))

#define SAME_PARAMS(runtime, driver)                                                               \
    _Static_assert(sizeof(runtime) == sizeof(driver) &&                                            \
                       offsetof(runtime, params.fence.value) ==                                    \
                           offsetof(driver, params.fence.value) &&                                 \
                       offsetof(runtime, flags) == offsetof(driver, flags),                        \
                   "the parameters must have the driver's layout")
SAME_PARAMS(struct cudaExternalSemaphoreSignalParams, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS);
SAME_PARAMS(struct cudaExternalSemaphoreWaitParams, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS);

RT_FORWARD_ptsz(cudaSignalExternalSemaphoresAsync,
                (const cudaExternalSemaphore_t *extSemArray,
                 const struct cudaExternalSemaphoreSignalParams *paramsArray,
                 unsigned int numExtSems, cudaStream_t stream),
                cuSignalExternalSemaphoresAsync(
                    (const CUexternalSemaphore *)(const void *)extSemArray,
                    (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)(const void *)paramsArray,
                    numExtSems, rt_stream(stream)))
RT_FORWARD_ptsz(cudaWaitExternalSemaphoresAsync,
                (const cudaExternalSemaphore_t *extSemArray,
                 const struct cudaExternalSemaphoreWaitParams *paramsArray, unsigned int numExtSems,
                 cudaStream_t stream),
                cuWaitExternalSemaphoresAsync(
                    (const CUexternalSemaphore *)(const void *)extSemArray,
                    (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)(const void *)paramsArray,
                    numExtSems, rt_stream(stream)))
