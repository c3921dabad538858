/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports Vulkan memory into CUDA; see memory_import.h. */
#include "vk/memory/memory_import.h"

#include "lib/base/error.h"
#include "lib/external/make_resource.h"
#include "vk/device/export.h"

#ifndef _WIN32

gr_status vk_memory_export(const struct vk_binding *b, struct gr_memory_export *memory)
{
    int fd;
    GR_TRY(vk_export_memory(b->device, b->memory, &fd));
    *memory = (struct gr_memory_export){
        .fd = fd,
        .device = b->device->cuda,
        .size = (size_t)b->memory_size,
        .dedicated = b->dedicated,
    };
    return GR_OK;
}

#endif

/* Describes all the memory for CUDA, and exports its handle. */
static gr_status describe_memory(const struct vk_binding *b, gr_external_memory_desc *info)
{
    *info = GR_INIT(gr_external_memory_desc, .type = GR_VK_CUDA_MEMORY, .fd = -1,
                    .size = (size_t)b->memory_size, .dedicated = b->dedicated);
    return vk_export_memory(b->device, b->memory, &info->GR_VK_HANDLE_FIELD);
}

gr_status vk_memory_import(const struct vk_binding *b, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags, const char *call)
{
    gr_external_memory_desc info;
    GR_TRY(describe_memory(b, &info));
    info.part = part;
    gr_status status = gr_external_make(resource, context, &info, flags, call);
    vk_handle_close(info.GR_VK_HANDLE_FIELD, status == GR_OK);
    return status;
}

struct gr_import *vk_memory_import_whole(const struct vk_binding *b, const char *call)
{
    gr_external_memory_desc info;
    if (describe_memory(b, &info) != GR_OK)
        return NULL;
    struct gr_import *import = gr_import_memory(&info, call);
    vk_handle_close(info.GR_VK_HANDLE_FIELD, false); /* the import has a copy */
    return import;
}
