/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Pinned host memory, which the driver allocates or the application registers. */
#include "softcuda/driver/memory/device_memory.h"

#include <unistd.h>

#define ALLOC_FLAGS                                                                                \
    (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED)
#define REGISTER_FLAGS                                                                             \
    (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY)

SOFT_API cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_TRY(soft_capture_check_unsafe());
    SOFT_FAIL_IF(!pp || (Flags & ~(unsigned)ALLOC_FLAGS), CUDA_ERROR_INVALID_VALUE);
    *pp = NULL;
    if (!bytesize)
        return CUDA_SUCCESS;

    soft_range range = {.size = bytesize,
                        .kind = SOFT_MEMORY_HOST,
                        .what = "pinned memory of cuMemHostAlloc",
                        .flags = Flags,
                        .context = context};
    /* The memory begins at a page boundary, as in the NVIDIA driver. */
    range.base = soft_pages_new(bytesize, (size_t)sysconf(_SC_PAGESIZE), false);
    SOFT_FAIL_IF(!range.base, CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_range_add(&range);
    if (result != CUDA_SUCCESS)
        soft_pages_retire(range.base, range.size, "pinned memory of a failed allocation");
    else
        *pp = range.base;
    return result;
}

SOFT_FORWARD(cuMemAllocHost_v2, (void **pp, size_t bytesize), cuMemHostAlloc(pp, bytesize, 0))

/* Like cuMemFree, waits for work that may still use the memory. */
SOFT_API cuMemFreeHost(void *p)
{
    CUresult result = soft_check_no_dead_context();
    if (result != CUDA_SUCCESS || !p)
        return result;
    SOFT_TRY(soft_capture_check_unsafe());
    soft_range range;
    SOFT_FAIL_IF(!soft_range_remove(p, SOFT_MEMORY_HOST, &range), CUDA_ERROR_INVALID_VALUE);
    result = soft_context_wait(range.context);
    soft_pages_retire(range.base, range.size, "pinned memory after cuMemFreeHost");
    return result;
}

SOFT_API cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    const unsigned known = REGISTER_FLAGS | CU_MEMHOSTREGISTER_IOMEMORY;
    SOFT_FAIL_IF(!p || !bytesize || (Flags & ~known), CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(Flags & CU_MEMHOSTREGISTER_IOMEMORY, CUDA_ERROR_NOT_SUPPORTED);

    soft_range range = {.base = p,
                        .size = bytesize,
                        .kind = SOFT_MEMORY_REGISTERED,
                        .flags = Flags,
                        .context = context};
    CUresult result = soft_range_add(&range);
    soft_range other;
    bool is_allocation = soft_range_find(p, &other) && other.kind != SOFT_MEMORY_REGISTERED;
    if (result != CUDA_ERROR_INVALID_VALUE || is_allocation)
        return result;
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

SOFT_API_v1(cuMemHostRegister, (void *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags))

SOFT_API cuMemHostUnregister(void *p)
{
    SOFT_TRY(soft_check_no_dead_context());
    soft_range range;
    SOFT_FAIL_IF(!p || (soft_range_find(p, &range) &&
                        (range.kind != SOFT_MEMORY_REGISTERED || (void *)range.base != p)),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(!soft_range_remove(p, SOFT_MEMORY_REGISTERED, &range),
                 CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    return soft_context_wait(range.context);
}

static bool find_pinned(const void *p, soft_range *range)
{
    return p && soft_range_find(p, range) &&
           (range->kind == SOFT_MEMORY_HOST || range->kind == SOFT_MEMORY_REGISTERED);
}

SOFT_API cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_range range;
    SOFT_FAIL_IF(!pdptr || Flags != 0 || !find_pinned(p, &range), CUDA_ERROR_INVALID_VALUE);
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return CUDA_SUCCESS;
}

SOFT_API cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    SOFT_TRY(soft_check_context(NULL));
    soft_range range;
    SOFT_FAIL_IF(!pFlags || !find_pinned(p, &range), CUDA_ERROR_INVALID_VALUE);
    *pFlags = range.flags |
              CU_MEMHOSTALLOC_DEVICEMAP; /* with unified addressing all pinned memory is mapped */
    return CUDA_SUCCESS;
}
