/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * cuMemCreate and related calls: memory without an address until cuMemMap maps it. Each allocation
 * is a file, so that it can be mapped twice and shared with OpenGL, Vulkan or another process.
 */
#include "softcuda/driver/memory/allocation.h"
#include "softcuda/driver/memory/device_memory.h"

#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const void *as_pointer(CUmemGenericAllocationHandle handle)
{
    return (const void *)(uintptr_t)handle;
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

/*
 * Creates an allocation with one holder. On success the allocation owns the file, which is closed
 * when the allocation is freed.
 */
static CUresult start(const soft_memfd *file, size_t size, size_t booked,
                      const CUmemAllocationProp *prop, CUmemGenericAllocationHandle *handle)
{
    soft_allocation *allocation = calloc(1, sizeof(*allocation));
    SOFT_FAIL_IF(!allocation, CUDA_ERROR_OUT_OF_MEMORY);
    *allocation = (soft_allocation){
        .prop = *prop, .file = *file, .size = size, .booked = booked, .holders = 1};
    void *made = soft_handle_new(SOFT_KIND_ALLOCATION, allocation);
    if (!made) {
        free(allocation);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    allocation->handle = (CUmemGenericAllocationHandle)(uintptr_t)made;
    *handle = allocation->handle;
    return CUDA_SUCCESS;
}

/*
 * Frees an allocation without holders and mappings. The handle stays valid while the memory is
 * mapped, even without a holder.
 */
static void end_if_unused_locked(soft_allocation *allocation)
{
    if (allocation->holders > 0 || allocation->mappings > 0)
        return;
    soft_handle_drop(SOFT_KIND_ALLOCATION, as_pointer(allocation->handle));
    soft_memfd_close(&allocation->file);
    soft_device_memory_uncharge(allocation->prop.location.id, allocation->booked);
    free(allocation);
}

static soft_allocation *find_locked(CUmemGenericAllocationHandle handle)
{
    soft_allocation *found = soft_handle_get(SOFT_KIND_ALLOCATION, as_pointer(handle));
    return found && found->holders > 0 ? found : NULL;
}

soft_allocation *soft_allocation_map(CUmemGenericAllocationHandle handle)
{
    SOFT_LOCK(&lock);
    soft_allocation *allocation = find_locked(handle);
    if (allocation)
        allocation->mappings++;
    return allocation;
}

void soft_allocation_unmap(soft_allocation *allocation)
{
    SOFT_LOCK(&lock);
    allocation->mappings--;
    end_if_unused_locked(allocation);
}

void soft_allocation_hold(soft_allocation *allocation)
{
    SOFT_LOCK(&lock);
    allocation->holders++;
}

/* ---- Properties ------------------------------------------------------------------------------ */

CUresult soft_allocation_check_location(const CUmemLocation *location)
{
    static int logged;
    unsigned type = (unsigned)location->type;
    if (type == CU_MEM_LOCATION_TYPE_DEVICE)
        return soft_check_device(location->id);
    /* 2 to 4 are HOST, HOST_NUMA and HOST_NUMA_CURRENT, which an older cuda.h lacks. */
    return type >= 2 && type <= 4
               ? soft_unsupported(&logged, "virtual memory management of host memory")
               : CUDA_ERROR_INVALID_VALUE;
}

static CUresult check_properties(const CUmemAllocationProp *prop)
{
    static int logged_handle, logged_use;
    const unsigned windows = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT;
    const unsigned fabric = 8;
    unsigned types = (unsigned)prop->requestedHandleTypes;
    SOFT_FAIL_IF(prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->win32HandleMetaData ||
                     (types & ~(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | windows | fabric)),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_TRY(soft_allocation_check_location(&prop->location));
    if (types & (windows | fabric))
        return soft_unsupported(&logged_handle,
                                "memory with a shareable handle other than a file descriptor");
    if (prop->allocFlags.usage || prop->allocFlags.gpuDirectRDMACapable)
        return soft_unsupported(&logged_use,
                                "memory for sparse arrays, decompression or GPUDirect RDMA");
    return CUDA_SUCCESS;
}

SOFT_API cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    SOFT_TRY(soft_check_init());
    bool is_known = option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ||
                    option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    SOFT_FAIL_IF(!granularity || !prop || !is_known, CUDA_ERROR_INVALID_VALUE);
    CUmemAllocationProp anywhere = *prop;
    anywhere.location.id = 0; /* the NVIDIA driver ignores the ordinal */
    SOFT_TRY(check_properties(&anywhere));
    *granularity = SOFT_GRANULARITY;
    return CUDA_SUCCESS;
}

SOFT_API cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    SOFT_TRY(soft_check_init());
    SOFT_LOCK(&lock);
    const soft_allocation *allocation = find_locked(handle);
    SOFT_FAIL_IF(!prop || !allocation, CUDA_ERROR_INVALID_VALUE);
    *prop = allocation->prop;
    return CUDA_SUCCESS;
}

/* ---- Creating and releasing ------------------------------------------------------------------ */

static CUresult create(size_t size, const CUmemAllocationProp *prop,
                       CUmemGenericAllocationHandle *handle)
{
    soft_memfd file;
    CUdevice device = prop->location.id;
    SOFT_FAIL_IF(!soft_device_memory_charge(device, size), CUDA_ERROR_OUT_OF_MEMORY);
    CUresult result = soft_memfd_create(size, soft_device_number(device), &file);
    if (result != CUDA_SUCCESS) {
        soft_device_memory_uncharge(device, size);
        return result;
    }
    result = start(&file, size, size, prop, handle);
    if (result != CUDA_SUCCESS) {
        soft_memfd_close(&file);
        soft_device_memory_uncharge(device, size);
    }
    return result;
}

/*
 * Requested compression is ignored: it is optional, and the properties of the memory report that it
 * is not compressed.
 */
SOFT_API cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!handle || !prop || flags != 0 || size == 0 || size % SOFT_GRANULARITY != 0,
                 CUDA_ERROR_INVALID_VALUE);
    CUmemAllocationProp granted = *prop;
    CUresult result = check_properties(&granted);
    granted.allocFlags.compressionType = 0;
    return result == CUDA_SUCCESS ? create(size, &granted, handle) : result;
}

SOFT_API cuMemRelease(CUmemGenericAllocationHandle handle)
{
    SOFT_TRY(soft_check_init());
    SOFT_LOCK(&lock);
    soft_allocation *allocation = find_locked(handle);
    SOFT_FAIL_IF(!allocation, CUDA_ERROR_INVALID_VALUE);
    allocation->holders--;
    end_if_unused_locked(allocation);
    return CUDA_SUCCESS;
}

/* ---- Export and import ----------------------------------------------------------------------- */

SOFT_API cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!shareableHandle || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
                     flags != 0,
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    const soft_allocation *allocation = find_locked(handle);
    SOFT_FAIL_IF(!allocation ||
                     !((unsigned)allocation->prop.requestedHandleTypes & (unsigned)handleType),
                 CUDA_ERROR_INVALID_VALUE);
    const int fd = soft_memfd_export(&allocation->file);
    SOFT_FAIL_IF(fd < 0, CUDA_ERROR_OPERATING_SYSTEM);
    *(int *)shareableHandle = fd;
    return CUDA_SUCCESS;
}

static CUresult import(int fd, CUmemGenericAllocationHandle *handle)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
    };
    SOFT_GET(soft_memfd, file, soft_memfd_open(fd, "cuMemImportFromShareableHandle", &file));
    prop.location.id = soft_device_of_number(file.device);
    if (prop.location.id == CU_DEVICE_INVALID) {
        soft_memfd_close(&file);
        return CUDA_ERROR_INVALID_DEVICE;
    }
    size_t size = file.size / SOFT_GRANULARITY * SOFT_GRANULARITY;
    CUresult result = size && soft_memfd_can_place(&file) ? start(&file, size, 0, &prop, handle)
                                                          : CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS)
        soft_memfd_close(&file);
    return result;
}

/*
 * The application keeps its descriptor. The memory stays on the device where it was created. For
 * memory of another driver, the size is rounded down to whole granules, because only these can be
 * mapped.
 */
SOFT_API cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                 CUDA_ERROR_INVALID_VALUE);
    return import((int)(intptr_t)osHandle, handle);
}
