/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exportable memory through the virtual memory management of the driver. */
#include "lib/external/vmm.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/device_access.h"
#include "lib/base/plural.h"

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

/* Grants access to the device of the current context, and to the device that owns the memory. */
static CUresult give_access(const struct gr_vmm *vmm, CUdevice device, CUdevice current)
{
    const CUmemAccessDesc access[] = {
        {.location = on(current), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = on(device), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    return gr_driver()->MemSetAccess(vmm->ptr, vmm->size, access, device == current ? 1 : 2);
}

/* Maps the memory to an address, with read and write access. */
static gr_status map_whole(struct gr_vmm *vmm, CUdevice device)
{
    const gr_cuda_api *cu = gr_driver();
    CUdevice current;
    GR_TRY(gr_current_device(&current));
    CUresult result = cu->MemAddressReserve(&vmm->ptr, vmm->size, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return refuse(result, "cuMemAddressReserve", vmm->size);
    result = cu->MemMap(vmm->ptr, vmm->size, 0, vmm->handle, 0);
    if (result == CUDA_SUCCESS) {
        result = give_access(vmm, device, current);
        if (result == CUDA_SUCCESS)
            return GR_OK;
        cu->MemUnmap(vmm->ptr, vmm->size);
    }
    cu->MemAddressFree(vmm->ptr, vmm->size);
    return refuse(result, "cuMemMap", vmm->size);
}

static gr_status map_or_release(struct gr_vmm *vmm, CUdevice device)
{
    gr_status status = map_whole(vmm, device);
    if (status != GR_OK)
        gr_driver()->MemRelease(vmm->handle);
    return status;
}

gr_status gr_vmm_create(struct gr_vmm *vmm, CUdevice device, size_t bytes)
{
    const gr_cuda_api *cu = gr_driver();
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = on(device),
    };
    size_t granularity = 0;
    CUresult result = cu->MemGetAllocationGranularity(&granularity, &properties,
                                                      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS || granularity == 0 || bytes > SIZE_MAX - granularity)
        return refuse(result ? result : CUDA_ERROR_INVALID_VALUE, "cuMemGetAllocationGranularity",
                      bytes);
    vmm->size = (bytes + granularity - 1) / granularity * granularity;
    result = cu->MemCreate(&vmm->handle, vmm->size, &properties, 0);
    return result == CUDA_SUCCESS ? map_or_release(vmm, device)
                                  : refuse(result, "cuMemCreate", vmm->size);
}

gr_status gr_vmm_import(struct gr_vmm *vmm, CUdevice device, int fd, size_t size)
{
    vmm->size = size;
    CUresult result = gr_driver()->MemImportFromShareableHandle(
        &vmm->handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    return result == CUDA_SUCCESS ? map_or_release(vmm, device)
                                  : refuse(result, "cuMemImportFromShareableHandle", size);
}

gr_status gr_vmm_export(CUmemGenericAllocationHandle handle, int *fd)
{
    CUresult result = gr_driver()->MemExportToShareableHandle(
        fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuMemExportToShareableHandle",
                        "The memory could not be exported as a file descriptor.");
}

void gr_vmm_end(struct gr_vmm *vmm)
{
    const gr_cuda_api *cu = gr_driver();
    cu->MemUnmap(vmm->ptr, vmm->size);
    cu->MemAddressFree(vmm->ptr, vmm->size);
    cu->MemRelease(vmm->handle);
}
