/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/exportable.h"

#include "lib/base/error.h"
#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/import_handle.h"

/* ---- Memory that this library allocates ------------------------------------------------------ */

static CUmemLocation on(CUdevice device)
{
    return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

static gr_status refuse(CUresult result, const char *driver_call, size_t bytes)
{
    return gr_fail_cuda(result, driver_call,
                        "%zu byte%s of exportable memory could not be allocated.", bytes,
                        gr_s(bytes));
}

/* Maps the memory to an address, with access for its device and that of the current context. */
static gr_status map_whole(struct gr_exportable *memory, CUdevice device)
{
    const struct gr_driver_api *cu = gr_driver();
    const size_t size = memory->size;
    CUdevice current;
    GR_TRY(gr_current_device(&current));
    const CUmemAccessDesc access[] = {
        {.location = on(current), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = on(device), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    GR_TRY_DRIVER(refuse, cu->MemAddressReserve(&memory->ptr, size, 0, 0, 0), "cuMemAddressReserve",
                  size);
    CUresult result = cu->MemMap(memory->ptr, size, 0, memory->allocation, 0);
    if (result == CUDA_SUCCESS) {
        result = cu->MemSetAccess(memory->ptr, size, access, device == current ? 1 : 2);
        if (result == CUDA_SUCCESS)
            return GR_OK;
        cu->MemUnmap(memory->ptr, size);
    }
    cu->MemAddressFree(memory->ptr, size);
    return refuse(result, "cuMemMap", size);
}

/* Allocates at least memory->size bytes, and sets memory->size to the size of the allocation. */
static gr_status allocate(struct gr_exportable *memory, CUdevice device)
{
    const struct gr_driver_api *cu = gr_driver();
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = on(device),
    };
    size_t granularity = 0, bytes = memory->size;
    CUresult result = cu->MemGetAllocationGranularity(&granularity, &properties,
                                                      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS || granularity == 0 || bytes > SIZE_MAX - granularity)
        return refuse(result ? result : CUDA_ERROR_INVALID_VALUE, "cuMemGetAllocationGranularity",
                      bytes);
    memory->size = (bytes + granularity - 1) / granularity * granularity;
    GR_TRY_DRIVER(refuse, cu->MemCreate(&memory->allocation, memory->size, &properties, 0),
                  "cuMemCreate", memory->size);
    return GR_OK;
}

static gr_status map_allocation(struct gr_exportable *memory, CUdevice device)
{
    const gr_status status = map_whole(memory, device);
    if (status != GR_OK)
        gr_driver()->MemRelease(memory->allocation);
    return status;
}

gr_status gr_exportable_make(struct gr_exportable *memory, CUdevice device, size_t size)
{
    memory->size = size;
    GR_TRY(allocate(memory, device));
    return map_allocation(memory, device);
}

gr_status gr_exportable_open(struct gr_exportable *memory, CUdevice device, int fd, size_t size)
{
    memory->size = size;
    GR_TRY_DRIVER(
        refuse,
        gr_driver()->MemImportFromShareableHandle(&memory->allocation, (void *)(intptr_t)fd,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "cuMemImportFromShareableHandle", size);
    return map_allocation(memory, device);
}

void gr_exportable_end(const struct gr_exportable *memory)
{
    const struct gr_driver_api *cu = gr_driver();
    cu->MemUnmap(memory->ptr, memory->size);
    cu->MemAddressFree(memory->ptr, memory->size);
    cu->MemRelease(memory->allocation);
}

gr_status gr_allocation_export(CUmemGenericAllocationHandle allocation, int *fd)
{
    static const char call[] = "cuMemExportToShareableHandle";
    GR_CALL_AS(call);
    CUresult result = gr_driver()->MemExportToShareableHandle(
        fd, allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    GR_TRY(gr_fd_check_left());
    return gr_fail_cuda(result, call, "The memory could not be exported as a file descriptor.");
}

/* ---- Memory that others allocated ------------------------------------------------------------ */

#define INSTEAD                                                                                    \
    "Allocate it by gr_tensor_create() with `exportable`, by cuMemCreate() with "                  \
    "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, or in Python within "                               \
    "grinterop.exportable_memory(); or copy the tensor to a buffer by gr_publish()."

static gr_status refuse_memory(const char *why)
{
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "OpenGL and Vulkan cannot use the memory of the tensor: %s. " INSTEAD, why);
}

/* Finds the device and the part of the allocation, and checks that it can be exported. */
static gr_status check_allocation(struct gr_allocation *found, CUdeviceptr ptr, size_t size)
{
    CUdeviceptr base = 0;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
                                        CU_POINTER_ATTRIBUTE_MAPPING_SIZE};
    void *values[] = {&base, &found->size};
    GR_TRY_CUDA(gr_driver()->PointerGetAttributes(2, attributes, values, ptr),
                "cuPointerGetAttributes", "The driver does not report the allocation of 0x%llx.",
                (unsigned long long)ptr);
    found->offset = (size_t)(ptr - base);
    if (found->offset > found->size || size > found->size - found->offset)
        return refuse_memory("it spans several allocations");
    CUmemAllocationProp properties;
    GR_TRY_CUDA(gr_driver()->MemGetAllocationPropertiesFromHandle(&properties, found->handle),
                "cuMemGetAllocationPropertiesFromHandle",
                "%s: the driver does not report the memory.", gr_call);
    if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return refuse_memory("it is not on a CUDA device");
    if (!(properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        return refuse_memory("cuMemCreate() got no CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR");
    found->device = properties.location.id;
    return GR_OK;
}

gr_status gr_allocation_find(CUdeviceptr ptr, size_t size, struct gr_allocation *found)
{
    const struct gr_driver_api *cu = gr_driver();
    const CUresult result = cu->MemRetainAllocationHandle(&found->handle, (void *)(uintptr_t)ptr);
    if (result != CUDA_SUCCESS)
        return gr_fail_code(result == CUDA_ERROR_INVALID_VALUE ? GR_ERR_UNSUPPORTED : GR_ERR_CUDA,
                            GR_DOMAIN_CUDA, (int)result, gr_cuda_error_name(result),
                            "cuMemRetainAllocationHandle",
                            "%s: OpenGL and Vulkan cannot use the memory of the tensor, because "
                            "cuMemCreate() did not allocate it. " INSTEAD,
                            gr_call);
    const gr_status status = check_allocation(found, ptr, size);
    if (status != GR_OK)
        cu->MemRelease(found->handle);
    return status;
}
