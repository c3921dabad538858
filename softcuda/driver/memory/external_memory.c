/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * External memory: cuImportExternalMemory of file descriptors, and buffers mapped from it. Each
 * mapped buffer or array is a separate view, which outlives the imported memory.
 */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/external_memory.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- Lifetime -------------------------------------------------------------------------------- */

SOFT_OWNED_LIST(externals, SOFT_KIND_EXTERNAL_MEMORY, end_external)

/* Destroys an object whose handle was removed. */
static void end_external(void *object)
{
    soft_external *external = object;
    soft_owned_remove(&externals, &external->owned);
    soft_memfd_close(&external->file);
    free(external);
}

CUresult soft_external_get(CUexternalMemory handle, soft_external **external)
{
    SOFT_TRY(soft_check_context(NULL));
    *external = soft_handle_get(SOFT_KIND_EXTERNAL_MEMORY, handle);
    return *external ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft_external_map(const soft_external *external, uint64_t offset, uint64_t size,
                           void *owner, unsigned char **bytes)
{
    SOFT_FAIL_IF(size == 0 || offset > external->size || size > external->size - offset,
                 CUDA_ERROR_INVALID_VALUE);
    soft_range range = {.size = size,
                        .kind = SOFT_MEMORY_EXTERNAL,
                        .what =
                            owner ? "an array over external memory" : "a buffer of external memory",
                        .flags = external->file.is_own ? SOFT_EXTERNAL_OWN : 0,
                        .context = external->owned.context,
                        .owner = owner};
    range.base = soft_memfd_map(&external->file, offset, size);
    SOFT_FAIL_IF(!range.base, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_range_add(&range);
    if (result != CUDA_SUCCESS)
        soft_device_memory_free(&range, "external memory of a failed mapping");
    *bytes = range.base;
    return result;
}

/* ---- Import ---------------------------------------------------------------------------------- */

static CUresult check_type(CUexternalMemoryHandleType type)
{
    static int logged;
    if (type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_SUCCESS;
    /* The last handle type, 9, is the dma-buf of CUDA 13.0. */
    return type >= CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32 && (unsigned)type <= 9
               ? soft_unsupported(&logged,
                                  "external memory of Windows, of NvSciBuf or from a dma-buf")
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult open_file(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor, soft_memfd *file)
{
    CUresult result = soft_memfd_open(descriptor->handle.fd, "cuImportExternalMemory", file);
    if (result != CUDA_SUCCESS || descriptor->size <= file->size)
        return result;
    soft_log(SOFT_WARN, "cuImportExternalMemory: descriptor %d holds %zu bytes, not %llu",
             descriptor->handle.fd, file->size, descriptor->size);
    soft_memfd_close(file);
    return CUDA_ERROR_INVALID_VALUE;
}

/* If the Vulkan memory is on another device, the NVIDIA driver accepts only dedicated memory. */
static CUresult check_device(const soft_context *context,
                             const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor,
                             soft_external *external)
{
    int number = soft_device_number(soft_context_device(context));
    external->is_elsewhere = external->file.device != number;
    if (!external->is_elsewhere || external->file.is_own ||
        (descriptor->flags & CUDA_EXTERNAL_MEMORY_DEDICATED))
        return CUDA_SUCCESS;
    soft_log(SOFT_WARN,
             "cuImportExternalMemory: the Vulkan memory is on device %d, the context on device %d, "
             "and CUDA_EXTERNAL_MEMORY_DEDICATED is not set",
             external->file.device, number);
    soft_memfd_close(&external->file);
    return CUDA_ERROR_UNKNOWN;
}

/*
 * After a success the driver owns the descriptor. The driver no longer needs it and closes it at
 * once, so that a program that still uses the descriptor fails soon.
 */
static CUresult import(soft_context *context, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor,
                       CUexternalMemory *handle)
{
    soft_external *external = calloc(1, sizeof(*external));
    SOFT_FAIL_IF(!external, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = open_file(descriptor, &external->file);
    if (result == CUDA_SUCCESS)
        result = check_device(context, descriptor, external);
    if (result != CUDA_SUCCESS) {
        free(external);
        return result;
    }
    external->owned.context = context;
    external->size = descriptor->size;
    external->owned.handle = soft_handle_new(SOFT_KIND_EXTERNAL_MEMORY, external);
    if (!external->owned.handle) {
        end_external(external);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    soft_owned_add(&externals, &external->owned);
    close(descriptor->handle.fd);
    *handle = external->owned.handle;
    return CUDA_SUCCESS;
}

/* ---- Entry points ---------------------------------------------------------------------------- */

SOFT_API cuImportExternalMemory(CUexternalMemory *extMem_out,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *memHandleDesc)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!extMem_out || !memHandleDesc, CUDA_ERROR_INVALID_VALUE);
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC descriptor = *memHandleDesc;
    SOFT_TRY(check_type(descriptor.type));
    SOFT_FAIL_IF(descriptor.size == 0 ||
                     (descriptor.flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED),
                 CUDA_ERROR_INVALID_VALUE);
    return import(context, &descriptor, extMem_out);
}

SOFT_API cuExternalMemoryGetMappedBuffer(CUdeviceptr *devPtr, CUexternalMemory extMem,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *bufferDesc)
{
    SOFT_GET(soft_external *, external, soft_external_get(extMem, &external));
    SOFT_FAIL_IF(!devPtr || !bufferDesc || bufferDesc->flags != 0, CUDA_ERROR_INVALID_VALUE);
    unsigned char *bytes;
    SOFT_TRY(soft_external_map(external, bufferDesc->offset, bufferDesc->size, NULL, &bytes));
    *devPtr = (CUdeviceptr)(uintptr_t)bytes;
    return CUDA_SUCCESS;
}

SOFT_API cuDestroyExternalMemory(CUexternalMemory extMem)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_external *external = soft_handle_drop(SOFT_KIND_EXTERNAL_MEMORY, extMem);
    SOFT_FAIL_IF(!external, CUDA_ERROR_INVALID_HANDLE);
    end_external(external);
    return CUDA_SUCCESS;
}
