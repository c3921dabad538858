/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Imports Vulkan memory into CUDA; see memory_import.h. */
#include "vk/memory/memory_import.h"

#include <unistd.h>

#include "lib/base/error.h"
#include "lib/external/make_resource.h"
#include "vk/device/error.h"

#define ALLOCATE_LIKE_THIS                                                                         \
    "Was it allocated, not imported, with VkExportMemoryAllocateInfo in the pNext of "             \
    "VkMemoryAllocateInfo and the handleTypes VK_EXTERNAL_MEMORY_HANDLE_TYPE_" GR_VK_HANDLE_NAME   \
    "_BIT? gr_vk_buffer_create() and gr_vk_image_create() allocate memory that way."

#if defined(_WIN32)

static gr_status export_handle(const struct vk_binding *b, gr_external_memory_desc *info)
{
    const VkMemoryGetWin32HandleInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
        .memory = b->memory,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    HANDLE handle = NULL;
    VkResult result = b->device->vk.vkGetMemoryWin32HandleKHR(b->device->device, &get, &handle);
    info->type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    info->win32_handle = handle;
    if (result == VK_SUCCESS && handle)
        return GR_OK;
    return vk_fail(result == VK_SUCCESS ? VK_ERROR_UNKNOWN : result, "vkGetMemoryWin32HandleKHR",
                   "The memory 0x%llx cannot be exported. " ALLOCATE_LIKE_THIS,
                   GR_VK_NUMBER(b->memory));
}

/* Closes the Win32 handle in any case, because the driver duplicates it. */
static void close_handle(const gr_external_memory_desc *info, bool imported)
{
    (void)imported;
    CloseHandle(info->win32_handle);
}

#else

static gr_status export_handle(const struct vk_binding *b, gr_external_memory_desc *info)
{
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = b->memory,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    int fd = -1;
    VkResult result = b->device->vk.vkGetMemoryFdKHR(b->device->device, &get, &fd);
    info->type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    info->fd = fd;
    if (result == VK_SUCCESS && fd >= 0)
        return GR_OK;
    if (result == VK_SUCCESS) /* lavapipe does this if the memory was not allocated for export */
        return gr_fail(GR_ERR_VULKAN, "vkGetMemoryFdKHR",
                       "Vulkan succeeded but returned no file descriptor (%d) for the memory "
                       "0x%llx. " ALLOCATE_LIKE_THIS,
                       fd, GR_VK_NUMBER(b->memory));
    return vk_fail(result, "vkGetMemoryFdKHR",
                   "The memory 0x%llx cannot be exported. " ALLOCATE_LIKE_THIS,
                   GR_VK_NUMBER(b->memory));
}

/*
 * Closes the file descriptor only after a failed import. A successful import takes the descriptor,
 * whose number may then be in use for another file.
 */
static void close_handle(const gr_external_memory_desc *info, bool imported)
{
    if (!imported)
        close(info->fd);
}

gr_status vk_memory_export(const struct vk_binding *b, struct gr_memory_export *memory)
{
    gr_external_memory_desc info = GR_INIT(gr_external_memory_desc, .fd = -1);
    GR_TRY(export_handle(b, &info));
    *memory = (struct gr_memory_export){
        .fd = info.fd,
        .device = b->device->cuda,
        .size = (size_t)b->memory_size,
        .dedicated = b->dedicated,
    };
    return GR_OK;
}

#endif

gr_status vk_memory_import(const struct vk_binding *b, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags, const char *call)
{
    gr_external_memory_desc info =
        GR_INIT(gr_external_memory_desc, .fd = -1, .size = (size_t)b->memory_size,
                .dedicated = b->dedicated, .part = part);
    GR_TRY(export_handle(b, &info));
    gr_status status = gr_external_make(resource, context, &info, flags, call);
    close_handle(&info, status == GR_OK);
    return status;
}

struct gr_import *vk_memory_import_whole(const struct vk_binding *b, const char *call)
{
    gr_external_memory_desc info =
        GR_INIT(gr_external_memory_desc, .fd = -1, .size = (size_t)b->memory_size,
                .dedicated = b->dedicated);
    if (export_handle(b, &info) != GR_OK)
        return NULL;
    struct gr_import *import = gr_import_memory(&info, call);
    close_handle(&info, false); /* the import has a copy */
    return import;
}
