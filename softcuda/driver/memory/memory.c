/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* cuMemAlloc, cuMemFree and related calls. */
#include "softcuda/driver/memory/device_memory.h"
#include "softcuda/driver/memory/peer_access.h"

#define PITCH_ALIGNMENT 512

static CUresult allocate(CUdeviceptr *pointer, size_t size, enum soft_memory kind, unsigned flags)
{
    const char *what = kind == SOFT_MEMORY_MANAGED ? "managed memory of cuMemAllocManaged"
                                                   : "device memory of cuMemAlloc";
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_TRY(soft_capture_check_unsafe());
    SOFT_FAIL_IF(!pointer || size == 0, CUDA_ERROR_INVALID_VALUE);
    soft_range range = {
        .size = size, .kind = kind, .what = what, .flags = flags, .context = context};
    SOFT_TRY(soft_device_memory_new(&range));
    *pointer = (CUdeviceptr)(uintptr_t)range.base;
    return CUDA_SUCCESS;
}

SOFT_FORWARD(cuMemAlloc_v2, (CUdeviceptr * dptr, size_t bytesize),
             allocate(dptr, bytesize, SOFT_MEMORY_DEVICE, 0))

SOFT_API cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes)
{
    SOFT_TRY(soft_check_context(NULL));
    bool good_element = ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16;
    SOFT_FAIL_IF(!dptr || !pPitch || !WidthInBytes || !Height || !good_element,
                 CUDA_ERROR_INVALID_VALUE);

    size_t pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) & ~(size_t)(PITCH_ALIGNMENT - 1);
    size_t size;
    SOFT_FAIL_IF(pitch < WidthInBytes || __builtin_mul_overflow(pitch, Height, &size),
                 CUDA_ERROR_OUT_OF_MEMORY);
    SOFT_TRY(allocate(dptr, size, SOFT_MEMORY_DEVICE, 0));
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

SOFT_API cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
        CUresult result = soft_check_context(NULL);
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    }
    return allocate(dptr, bytesize, SOFT_MEMORY_MANAGED, flags);
}

CUresult soft_check_no_dead_context(void)
{
    CUresult result = soft_query_context(NULL);
    return result == CUDA_ERROR_INVALID_CONTEXT ? CUDA_SUCCESS : result;
}

static bool is_freeable(const soft_range *range)
{
    return range->kind == SOFT_MEMORY_DEVICE || range->kind == SOFT_MEMORY_MANAGED ||
           range->kind == SOFT_MEMORY_EXTERNAL;
}

/*
 * Like the NVIDIA driver, waits for work that may still use the memory. This driver waits for the
 * work of all devices.
 */
SOFT_API cuMemFree_v2(CUdeviceptr dptr)
{
    CUresult result = soft_check_no_dead_context();
    if (result != CUDA_SUCCESS || !dptr)
        return result;
    SOFT_TRY(soft_capture_check_unsafe());

    soft_range range;
    const unsigned char *address = (const unsigned char *)(uintptr_t)dptr;
    SOFT_FAIL_IF(!soft_range_find(address, &range) || range.base != address,
                 CUDA_ERROR_INVALID_VALUE);
    if (range.kind == SOFT_MEMORY_POOL)
        return soft_pool_free_now(range.base);
    SOFT_FAIL_IF(!is_freeable(&range) || range.owner ||
                     !soft_range_remove(range.base, range.kind, &range),
                 CUDA_ERROR_INVALID_VALUE);
    if (soft_device_count() > 1)
        soft_contexts_drain();
    result = soft_context_wait(range.context);
    soft_device_memory_free(&range, range.kind == SOFT_MEMORY_EXTERNAL
                                        ? "a buffer of external memory after cuMemFree"
                                        : "device memory after cuMemFree");
    return result;
}

void soft_memory_destroy_all(soft_context *context)
{
    soft_range range;
    while (soft_range_take_of_context(context, &range)) {
        if (is_freeable(&range))
            soft_device_memory_free(&range, "device memory of a destroyed context");
        else if (range.kind == SOFT_MEMORY_HOST)
            soft_pages_retire(range.base, range.size, "pinned memory of a destroyed context");
    }
}

SOFT_API cuMemGetInfo_v2(size_t *free, size_t *total)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    size_t unused, all;
    soft_device_memory_count(soft_context_device(context), &unused, &all);
    if (free)
        *free = unused;
    if (total)
        *total = all;
    return CUDA_SUCCESS;
}

/* Fails for cuMemAlloc memory of another context that the current context cannot access. */
SOFT_API cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    soft_range range;
    SOFT_FAIL_IF(!soft_range_find((void *)(uintptr_t)dptr, &range) ||
                     (range.kind == SOFT_MEMORY_DEVICE && !soft_can_access(context, &range)),
                 CUDA_ERROR_NOT_FOUND);
    if (pbase)
        *pbase = (CUdeviceptr)(uintptr_t)range.base;
    if (psize)
        *psize = range.size;
    return CUDA_SUCCESS;
}
