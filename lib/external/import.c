/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Memory that is imported into CUDA once and shared by the resources in it, and memory that CUDA
 * allocates by virtual memory management.
 */
#include "lib/external/external.h"

#include <stdatomic.h>
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
    if (gr_external_has_fd(info->type))
        GR_TRY(gr_fd_copy(info->fd, &desc.handle.fd, call));
    CUresult result = gr_driver()->ImportExternalMemory(&import->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    gr_status status = gr_external_refused(info, result, call);
    if (gr_external_has_fd(info->type))
        gr_fd_close(desc.handle.fd);
    return status;
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

/* Maps the memory to an address, with access for its device and that of the current context. */
static gr_status map_whole(struct gr_import *import, CUdevice device)
{
    const gr_cuda_api *cu = gr_driver();
    const size_t size = import->size;
    CUdevice current;
    GR_TRY(gr_current_device(&current));
    const CUmemAccessDesc access[] = {
        {.location = on(current), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {.location = on(device), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
    };
    GR_TRY_DRIVER(refuse, cu->MemAddressReserve(&import->ptr, size, 0, 0, 0), "cuMemAddressReserve",
                  size);
    CUresult result = cu->MemMap(import->ptr, size, 0, import->allocation, 0);
    if (result == CUDA_SUCCESS) {
        result = cu->MemSetAccess(import->ptr, size, access, device == current ? 1 : 2);
        if (result == CUDA_SUCCESS)
            return GR_OK;
        cu->MemUnmap(import->ptr, size);
    }
    cu->MemAddressFree(import->ptr, size);
    return refuse(result, "cuMemMap", size);
}

/* Allocates at least import->size bytes, and sets import->size to the size of the allocation. */
static gr_status allocate(struct gr_import *import, CUdevice device)
{
    const gr_cuda_api *cu = gr_driver();
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = on(device),
    };
    size_t granularity = 0, bytes = import->size;
    CUresult result = cu->MemGetAllocationGranularity(&granularity, &properties,
                                                      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS || granularity == 0 || bytes > SIZE_MAX - granularity)
        return refuse(result ? result : CUDA_ERROR_INVALID_VALUE, "cuMemGetAllocationGranularity",
                      bytes);
    import->size = (bytes + granularity - 1) / granularity * granularity;
    GR_TRY_DRIVER(refuse, cu->MemCreate(&import->allocation, import->size, &properties, 0),
                  "cuMemCreate", import->size);
    return GR_OK;
}

static gr_status open_allocation(struct gr_import *import, int fd)
{
    GR_TRY_DRIVER(
        refuse,
        gr_driver()->MemImportFromShareableHandle(&import->allocation, (void *)(intptr_t)fd,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "cuMemImportFromShareableHandle", import->size);
    return GR_OK;
}

gr_status gr_import_export(const struct gr_import *import, int *fd)
{
    static const char call[] = "cuMemExportToShareableHandle";
    CUresult result = gr_driver()->MemExportToShareableHandle(
        fd, import->allocation, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    GR_TRY(gr_fd_check_left(call));
    return gr_fail_cuda(result, call, "The memory could not be exported as a file descriptor.");
}

/* Imports an allocation, or makes one if `fd` is NULL. */
static struct gr_import *make_vmm(CUdevice device, const int *fd, size_t size, const char *call)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)), call);
    if (!import)
        return NULL;
    *import = (struct gr_import){.holds = 1, .size = size, .dedicated = true};
    if ((fd ? open_allocation(import, *fd) : allocate(import, device)) == GR_OK) {
        if (map_whole(import, device) == GR_OK)
            return import;
        gr_driver()->MemRelease(import->allocation);
    }
    free(import);
    return NULL;
}

struct gr_import *gr_import_new(CUdevice device, size_t size, const char *call)
{
    return make_vmm(device, NULL, size, call);
}

struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size, const char *call)
{
    return make_vmm(device, &fd, size, call);
}

/* ---- The end --------------------------------------------------------------------------------- */

void gr_import_drop(struct gr_import *import, bool alive)
{
    if (!import || atomic_fetch_sub_explicit(&import->holds, 1, memory_order_acq_rel) > 1)
        return;
    if (import->end_part) {
        import->end_part(import, alive);
        return;
    }
    const gr_cuda_api *cu = gr_driver();
    if (!import->handle) { /* the memory is owned by the device, not by a context */
        cu->MemUnmap(import->ptr, import->size);
        cu->MemAddressFree(import->ptr, import->size);
        cu->MemRelease(import->allocation);
    } else if (alive) {
        cu->DestroyExternalMemory(import->handle);
    }
    free(import);
}
