/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that is imported into CUDA once and shared by the resources in it, and memory that CUDA
 * allocates by virtual memory management.
 */
#include "lib/external/external.h"

#include <stdlib.h>

#include "lib/cuda/device.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/import_handle.h"

/*
 * A successful import consumes the descriptor, but the caller must keep its descriptor if a later
 * step fails. So the driver gets a duplicate.
 */
static gr_status import_handle(struct gr_import *import, const gr_external_memory_desc *info,
                               const char *call)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    gr_external_handle_desc(info, &desc);
    if (gr_external_has_fd(info->type)) {
        desc.handle.fd = gr_fd_copy(info->fd);
        if (desc.handle.fd < 0)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "Either the file descriptor %d is not open (it was closed, or an "
                           "earlier import took it), or the process has no descriptor left for a "
                           "copy.",
                           info->fd);
    }
    CUresult result = gr_driver()->ImportExternalMemory(&import->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    if (gr_external_has_fd(info->type))
        gr_fd_close(desc.handle.fd);
    return gr_external_refused(info, result, call);
}

struct gr_import *gr_import_memory(const gr_external_memory_desc *info, const char *call)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)), call);
    if (!import)
        return NULL;
    if (import_handle(import, info, call) != GR_OK) {
        free(import);
        return NULL;
    }
    import->holds = 1;
    import->type = info->type;
    import->size = info->size;
    import->dedicated = info->dedicated;
    return import;
}

/* ---- Memory that CUDA allocates -------------------------------------------------------------- */

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

static gr_status create_vmm(struct gr_vmm *vmm, CUdevice device, size_t bytes)
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
    return result == CUDA_SUCCESS ? GR_OK : refuse(result, "cuMemCreate", vmm->size);
}

gr_status gr_import_export(const struct gr_import *import, int *fd)
{
    GR_TRY_CUDA(gr_driver()->MemExportToShareableHandle(
                    fd, import->vmm.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                "cuMemExportToShareableHandle",
                "The memory could not be exported as a file descriptor.");
    return GR_OK;
}

/* Unmaps the address and drops this reference to the memory. No work may use it any more. */
static void end_vmm(const struct gr_vmm *vmm)
{
    const gr_cuda_api *cu = gr_driver();
    cu->MemUnmap(vmm->ptr, vmm->size);
    cu->MemAddressFree(vmm->ptr, vmm->size);
    cu->MemRelease(vmm->handle);
}

/* Maps the memory if `status` is GR_OK. After an error frees the import. */
static struct gr_import *finish_vmm(struct gr_import *import, CUdevice device, gr_status status)
{
    if (status == GR_OK) {
        status = map_whole(&import->vmm, device);
        if (status != GR_OK)
            gr_driver()->MemRelease(import->vmm.handle);
    }
    if (status != GR_OK) {
        free(import);
        return NULL;
    }
    import->holds = 1;
    import->size = import->vmm.size;
    import->dedicated = true;
    return import;
}

struct gr_import *gr_import_new(CUdevice device, size_t size, const char *call)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)), call);
    return import ? finish_vmm(import, device, create_vmm(&import->vmm, device, size)) : NULL;
}

struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size, const char *call)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)), call);
    if (!import)
        return NULL;
    import->vmm.size = size;
    CUresult result = gr_driver()->MemImportFromShareableHandle(
        &import->vmm.handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    return finish_vmm(
        import, device,
        result == CUDA_SUCCESS ? GR_OK : refuse(result, "cuMemImportFromShareableHandle", size));
}

/* ---- The end --------------------------------------------------------------------------------- */

void gr_import_drop(struct gr_import *import, bool alive)
{
    if (!import || __atomic_sub_fetch(&import->holds, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (import->end_part) {
        import->end_part(import, alive);
        return;
    }
    if (!import->handle)
        end_vmm(&import->vmm); /* the memory is owned by the device, not by a context */
    else if (alive)
        gr_driver()->DestroyExternalMemory(import->handle);
    free(import);
}
