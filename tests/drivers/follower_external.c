/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * External memory and semaphores of the follower driver: sections of Windows. The driver maps the
 * section of a memory handle, so that the exporter sees what it writes. The section of a semaphore
 * handle contains the functions of the exporter.
 */
#include "follower_resource.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <windows.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Maps the section of a handle, which stays with the caller; NULL if it is not a section. */
static void *open_section(HANDLE handle, size_t size)
{
    return MapViewOfFile(handle, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, size);
}

CUresult CUDAAPI import_memory(CUexternalMemory *made, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    struct followed *call = note("cuImportExternalMemory");
    call->target = desc->type;
    call->flags = desc->flags;
    call->count = (unsigned)desc->size;
    call->handle = desc->handle.win32.handle;
    const bool is_vulkan = desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    if ((!is_vulkan && desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE) ||
        (!is_vulkan && desc->flags != CUDA_EXTERNAL_MEMORY_DEDICATED) || desc->handle.win32.name)
        return CUDA_ERROR_INVALID_VALUE;
    if (result_of(call->call) != CUDA_SUCCESS)
        return result_of(call->call);
    *made = open_section(desc->handle.win32.handle, (size_t)desc->size);
    return *made ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult CUDAAPI map_buffer(CUdeviceptr *pointer, CUexternalMemory memory,
                            const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    *pointer = (CUdeviceptr)(uintptr_t)memory + desc->offset;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI end_memory(CUexternalMemory memory)
{
    note("cuDestroyExternalMemory");
    return UnmapViewOfFile(memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- Semaphores ------------------------------------------------------------------------------ */

CUresult CUDAAPI import_semaphore(CUexternalSemaphore *made,
                                  const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    struct followed *call = note("cuImportExternalSemaphore");
    call->target = desc->type;
    call->handle = desc->handle.win32.handle;
    if ((desc->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32 &&
         desc->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32 &&
         desc->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_D3D12_FENCE) ||
        desc->handle.win32.name)
        return CUDA_ERROR_INVALID_VALUE;
    if (result_of(call->call) != CUDA_SUCCESS)
        return result_of(call->call);
    *made = open_section(desc->handle.win32.handle, sizeof(struct follower_semaphore));
    return *made ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static void note_point(const char *name, unsigned long long value, CUstream stream)
{
    struct followed *call = note(name);
    call->count = (unsigned)value;
    call->stream = stream;
}

CUresult CUDAAPI signal_semaphores(const CUexternalSemaphore *semaphores,
                                   const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *values,
                                   unsigned count, CUstream stream)
{
    for (unsigned i = 0; i < count; i++) {
        note_point("cuSignalExternalSemaphoresAsync", values[i].params.fence.value, stream);
        const struct follower_semaphore *s = (struct follower_semaphore *)semaphores[i];
        s->signal(s->user, values[i].params.fence.value);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI wait_semaphores(const CUexternalSemaphore *semaphores,
                                 const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *values, unsigned count,
                                 CUstream stream)
{
    for (unsigned i = 0; i < count; i++) {
        note_point("cuWaitExternalSemaphoresAsync", values[i].params.fence.value, stream);
        const struct follower_semaphore *s = (struct follower_semaphore *)semaphores[i];
        s->wait(s->user, values[i].params.fence.value);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI end_semaphore(CUexternalSemaphore semaphore)
{
    note("cuDestroyExternalSemaphore");
    return UnmapViewOfFile(semaphore) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* The texels are in `bytes`, or follow the struct. */
static CUresult new_array(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                          unsigned levels, unsigned char *bytes)
{
    const size_t size = TEXEL * desc->Width * desc->Height;
    if (levels != 1 || desc->Depth || desc->NumChannels != TEXEL ||
        desc->Format != CU_AD_FORMAT_UNSIGNED_INT8)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct resource *r = calloc(1, sizeof(*r) + (bytes ? 0 : size));
    if (!r)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *r = (struct resource){.width = (GLint)desc->Width,
                           .height = (GLint)desc->Height,
                           .size = size,
                           .bytes = bytes ? bytes : (unsigned char *)(r + 1)};
    *array = (CUmipmappedArray)r;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI map_array(CUmipmappedArray *array, CUexternalMemory memory,
                           const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    return new_array(array, &desc->arrayDesc, desc->numLevels,
                     (unsigned char *)memory + desc->offset);
}

CUresult CUDAAPI make_array(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                            unsigned levels)
{
    return new_array(array, desc, levels, NULL);
}

CUresult CUDAAPI array_level(CUarray *level, CUmipmappedArray array, unsigned number)
{
    *level = (CUarray)array;
    return number ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI end_array(CUmipmappedArray array)
{
    free(array);
    return CUDA_SUCCESS;
}

/* The rows of one side of a copy; *pitch is their distance. */
static unsigned char *rows(CUmemorytype type, CUarray array, const void *host, CUdeviceptr device,
                           size_t *pitch)
{
    const struct resource *r = (const struct resource *)array;
    if (type == CU_MEMORYTYPE_ARRAY) {
        *pitch = TEXEL * (size_t)r->width;
        return r->bytes;
    }
    return type == CU_MEMORYTYPE_HOST ? (unsigned char *)host : (unsigned char *)(uintptr_t)device;
}

/* Copies whole rows of one slice. */
CUresult CUDAAPI copy_3d(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    size_t from_pitch = copy->srcPitch, to_pitch = copy->dstPitch;
    const unsigned char *from =
        rows(copy->srcMemoryType, copy->srcArray, copy->srcHost, copy->srcDevice, &from_pitch);
    unsigned char *to =
        rows(copy->dstMemoryType, copy->dstArray, copy->dstHost, copy->dstDevice, &to_pitch);
    (void)stream;
    if (copy->Depth > 1 || copy->srcXInBytes || copy->dstXInBytes || copy->srcY || copy->dstY)
        return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t y = 0; y < copy->Height; y++)
        memcpy(to + y * to_pitch, from + y * from_pitch, copy->WidthInBytes);
    return CUDA_SUCCESS;
}
