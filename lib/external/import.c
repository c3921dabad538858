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
static gr_status import_handle(struct gr_import *import, const gr_external_memory_desc *info)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    gr_external_handle_desc(info, &desc);
    if (gr_external_has_fd(info->type))
        GR_TRY(gr_fd_copy(info->fd, &desc.handle.fd));
    CUresult result = gr_driver()->ImportExternalMemory(&import->handle, &desc);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    gr_status status = gr_external_refused(info, result);
    if (gr_external_has_fd(info->type))
        gr_fd_close(desc.handle.fd);
    return status;
}

struct gr_import *gr_import_memory(const gr_external_memory_desc *info)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)));
    if (!import)
        return NULL;
    if (import_handle(import, info) != GR_OK) {
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

gr_status gr_import_export(const struct gr_import *import, int *fd)
{
    return gr_allocation_export(import->allocation, fd);
}

static struct gr_import *import_exportable(const struct gr_exportable *memory)
{
    struct gr_import *import = gr_check_memory(malloc(sizeof(*import)));
    if (import)
        *import = (struct gr_import){.holds = 1,
                                     .allocation = memory->allocation,
                                     .ptr = memory->ptr,
                                     .size = memory->size,
                                     .dedicated = true};
    else
        gr_exportable_end(memory);
    return import;
}

struct gr_import *gr_import_new(CUdevice device, size_t size)
{
    struct gr_exportable memory;
    return gr_exportable_make(&memory, device, size) == GR_OK ? import_exportable(&memory) : NULL;
}

struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size)
{
    struct gr_exportable memory;
    return gr_exportable_open(&memory, device, fd, size) == GR_OK ? import_exportable(&memory)
                                                                  : NULL;
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
    if (!import->handle) { /* the memory is owned by the device, not by a context */
        gr_exportable_end(&(struct gr_exportable){import->allocation, import->ptr, import->size});
    } else if (alive) {
        gr_driver()->DestroyExternalMemory(import->handle);
    }
    free(import);
}
