/* SPDX-License-Identifier: Apache-2.0 */
/* Exportable memory through the driver's virtual memory management. */
#include "lib/external/vmm.h"

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/plural.h"

static gr_status describe(CUmemAllocationProp *properties)
{
    CUdevice device;
    CUresult result = gr_driver()->CtxGetDevice(&device);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuCtxGetDevice",
                            "The CUDA context has no device: has it been destroyed?");
    *properties = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };
    return GR_OK;
}

static gr_status refuse(CUresult result, const char *driver_call, size_t bytes)
{
    return gr_fail_cuda(result, driver_call,
                        "%zu byte%s of memory that can be exported could not be had.", bytes,
                        gr_s(bytes));
}

/* Gives the memory an address, readable and writable by the device. */
static gr_status map_whole(struct gr_vmm *vmm, const CUmemAllocationProp *properties)
{
    const gr_cuda_api *cu = gr_driver();
    CUmemAccessDesc access = {.location = properties->location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = cu->MemAddressReserve(&vmm->ptr, vmm->size, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return refuse(result, "cuMemAddressReserve", vmm->size);
    result = cu->MemMap(vmm->ptr, vmm->size, 0, vmm->handle, 0);
    if (result == CUDA_SUCCESS) {
        result = cu->MemSetAccess(vmm->ptr, vmm->size, &access, 1);
        if (result == CUDA_SUCCESS)
            return GR_OK;
        cu->MemUnmap(vmm->ptr, vmm->size);
    }
    cu->MemAddressFree(vmm->ptr, vmm->size);
    return refuse(result, "cuMemMap", vmm->size);
}

static gr_status map_or_release(struct gr_vmm *vmm, const CUmemAllocationProp *properties)
{
    gr_status status = map_whole(vmm, properties);
    if (status != GR_OK)
        gr_driver()->MemRelease(vmm->handle);
    return status;
}

gr_status gr_vmm_create(struct gr_vmm *vmm, size_t bytes)
{
    const gr_cuda_api *cu = gr_driver();
    CUmemAllocationProp properties;
    size_t granularity = 0;
    gr_status status = describe(&properties);
    if (status != GR_OK)
        return status;
    CUresult result = cu->MemGetAllocationGranularity(&granularity, &properties,
                                                      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS || granularity == 0 || bytes > SIZE_MAX - granularity)
        return refuse(result ? result : CUDA_ERROR_INVALID_VALUE, "cuMemGetAllocationGranularity",
                      bytes);
    vmm->size = (bytes + granularity - 1) / granularity * granularity;
    result = cu->MemCreate(&vmm->handle, vmm->size, &properties, 0);
    return result == CUDA_SUCCESS ? map_or_release(vmm, &properties)
                                  : refuse(result, "cuMemCreate", vmm->size);
}

gr_status gr_vmm_import(struct gr_vmm *vmm, int fd, size_t size)
{
    CUmemAllocationProp properties;
    gr_status status = describe(&properties);
    if (status != GR_OK)
        return status;
    vmm->size = size;
    CUresult result = gr_driver()->MemImportFromShareableHandle(
        &vmm->handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    return result == CUDA_SUCCESS ? map_or_release(vmm, &properties)
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
