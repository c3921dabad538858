/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory that is imported into CUDA once and shared by the resources in it. */
#include "lib/external/import.h"

#include <stdlib.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/external/memory_rules.h"
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

static struct gr_import *finish_vmm(struct gr_import *import, gr_status status)
{
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
    return import ? finish_vmm(import, gr_vmm_create(&import->vmm, device, size)) : NULL;
}

struct gr_import *gr_import_vmm(CUdevice device, int fd, size_t size, const char *call)
{
    struct gr_import *import = gr_check_memory(calloc(1, sizeof(*import)), call);
    return import ? finish_vmm(import, gr_vmm_import(&import->vmm, device, fd, size)) : NULL;
}

void gr_import_drop(struct gr_import *import, bool alive)
{
    if (!import || __atomic_sub_fetch(&import->holds, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (import->end_part) {
        import->end_part(import, alive);
        return;
    }
    if (!import->handle)
        gr_vmm_end(&import->vmm); /* the memory is owned by the device, not by a context */
    else if (alive)
        gr_driver()->DestroyExternalMemory(import->handle);
    free(import);
}
