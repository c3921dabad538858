/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a Vulkan device on its way to CUDA: allocated so that it can be exported, exported once
 * for each resource, and the exported handle given to the driver or closed.
 */
#include "vk/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/external/make.h"
#include "lib/log.h"
#include "vk/semaphore.h"

/* How much larger than a buffer its memory has to be for Mesa's OpenGL, and some to spare. */
#define LLVMPIPE_ROOM 64

/* ---- The resource ---------------------------------------------------------------------------- */

static void describe(const gr_resource *resource, char *text, size_t size)
{
    const struct vk_resource *r = vk_resource_of(resource);
    if (r->image)
        snprintf(text, size, "Vulkan image 0x%llx, %s, %ux%ux%u, %u levels, %u layers",
                 GR_VK_NUMBER(r->image), r->format, r->extent.width, r->extent.height,
                 r->extent.depth, r->levels, r->layers);
    else
        snprintf(text, size, "Vulkan buffer 0x%llx", GR_VK_NUMBER(r->buffer));
}

static void end_vulkan_part(struct vk_resource *r)
{
    const struct vk_functions *vk = &r->device->vk;
    if (r->owned) {
        vk->vkDestroyBuffer(r->device->device, r->buffer, NULL);
        vk->vkDestroyImage(r->device->device, r->image, NULL);
        vk->vkFreeMemory(r->device->device, r->memory, NULL);
    }
    vk_device_drop(r->device);
}

static void end(gr_resource *resource)
{
    end_vulkan_part(vk_resource_of(resource));
}

#ifndef _WIN32
static gr_status export_for_peer(const gr_resource *resource, struct gr_memory_export *memory);
static gr_semaphore *create_semaphore(const gr_resource *resource);
#endif

static const struct gr_external_kind vk_kind = {
    .describe = describe,
    .end = end,
#ifndef _WIN32
    .export_memory = export_for_peer,
    .export_semaphore = vk_semaphore_export,
    .create_semaphore = create_semaphore,
#endif
};

struct vk_resource *vk_resource_of(const gr_resource *resource)
{
    struct gr_external *external = resource ? gr_external_of(resource) : NULL;
    return external && external->kind == &vk_kind ? (struct vk_resource *)external : NULL;
}

struct vk_resource *vk_resource_begin(gr_vk_device *device, const char *call)
{
    struct vk_resource *r = calloc(1, sizeof(*r));
    if (!r) {
        gr_fail_memory(call);
        return NULL;
    }
    r->external.kind = &vk_kind;
    r->device = device;
    vk_device_hold(device);
    return r;
}

gr_resource *vk_resource_discard(struct vk_resource *r)
{
    end_vulkan_part(r);
    free(r);
    return NULL;
}

VkDeviceMemory gr_vk_memory(const gr_resource *resource)
{
    const struct vk_resource *r = vk_resource_of(resource);
    return r ? r->memory : VK_NULL_HANDLE;
}

VkDeviceSize gr_vk_memory_size(const gr_resource *resource)
{
    const struct vk_resource *r = vk_resource_of(resource);
    return r ? r->memory_size : 0;
}

/* ---- The exported handle --------------------------------------------------------------------- */

#define ALLOCATE_LIKE_THIS                                                                         \
    "Was it allocated with VkExportMemoryAllocateInfo in the pNext of VkMemoryAllocateInfo, its "  \
    "handleTypes VK_EXTERNAL_MEMORY_HANDLE_TYPE_" GR_VK_HANDLE_NAME "_BIT, and not imported? "     \
    "gr_vk_buffer_create() and gr_vk_image_create() allocate so."

#if defined(_WIN32)

static gr_status export_memory(const struct vk_resource *r, gr_external_memory_info *info)
{
    const VkMemoryGetWin32HandleInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_WIN32_HANDLE_INFO_KHR,
        .memory = r->memory,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    HANDLE handle = NULL;
    VkResult result = r->device->vk.vkGetMemoryWin32HandleKHR(r->device->device, &get, &handle);
    info->type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32;
    info->win32_handle = handle;
    if (result == VK_SUCCESS && handle)
        return GR_OK;
    return vk_fail(result == VK_SUCCESS ? VK_ERROR_UNKNOWN : result, "vkGetMemoryWin32HandleKHR",
                   "The memory 0x%llx cannot be exported. " ALLOCATE_LIKE_THIS,
                   GR_VK_NUMBER(r->memory));
}

/* The driver duplicates a Win32 handle, whatever the import's outcome. */
static void close_handle(const gr_external_memory_info *info, bool imported)
{
    (void)imported;
    CloseHandle(info->win32_handle);
}

#else

static gr_status export_memory(const struct vk_resource *r, gr_external_memory_info *info)
{
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = r->memory,
        .handleType = GR_VK_MEMORY_HANDLE,
    };
    int fd = -1;
    VkResult result = r->device->vk.vkGetMemoryFdKHR(r->device->device, &get, &fd);
    info->type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    info->fd = fd;
    if (result == VK_SUCCESS && fd >= 0)
        return GR_OK;
    if (result == VK_SUCCESS) /* lavapipe, for memory that was not allocated for export */
        return gr_fail(GR_ERR_VULKAN, "vkGetMemoryFdKHR",
                       "Vulkan succeeded but gave no file descriptor (%d) for the memory 0x%llx. "
                       "" ALLOCATE_LIKE_THIS,
                       fd, GR_VK_NUMBER(r->memory));
    return vk_fail(result, "vkGetMemoryFdKHR",
                   "The memory 0x%llx cannot be exported. " ALLOCATE_LIKE_THIS,
                   GR_VK_NUMBER(r->memory));
}

/* An import that succeeds takes the file descriptor: it may be another file's by now. */
static void close_handle(const gr_external_memory_info *info, bool imported)
{
    if (!imported)
        close(info->fd);
}

/* Once more, for another process. */
static gr_status export_for_peer(const gr_resource *resource, struct gr_memory_export *memory)
{
    const struct vk_resource *r = vk_resource_of(resource);
    gr_external_memory_info info = {.fd = -1};
    gr_status status = export_memory(r, &info);
    if (status != GR_OK)
        return status;
    *memory = (struct gr_memory_export){
        .fd = info.fd,
        .size = (size_t)r->memory_size,
        .dedicated = r->dedicated,
        .part = {.offset = r->external.offset},
        .image = r->cuda_image,
    };
    return GR_OK;
}

static gr_semaphore *create_semaphore(const gr_resource *resource)
{
    return gr_vk_semaphore_create(vk_resource_of(resource)->device, VK_SEMAPHORE_TYPE_TIMELINE);
}

#endif

static gr_status import_memory(struct vk_resource *r, const gr_external_part *part, unsigned flags,
                               const struct gr_context *context, const char *call)
{
    gr_external_memory_info info = {
        .fd = -1,
        .size = (size_t)r->memory_size,
        .dedicated = r->dedicated,
        .part = *part,
    };
    gr_status status = export_memory(r, &info);
    if (status != GR_OK)
        return status;
    status = gr_external_make(&r->external, context, &info, flags, call);
    close_handle(&info, status == GR_OK);
    return status;
}

gr_resource *vk_resource_register(struct vk_resource *r, const gr_external_part *part,
                                  unsigned flags, const char *call)
{
    struct gr_context context;
    if (part->image)
        r->cuda_image = *part->image;
    if (vk_device_context(r->device, &context, call) != GR_OK)
        return vk_resource_discard(r);
    if (import_memory(r, part, flags, &context, call) != GR_OK) {
        gr_context_drop(&context);
        return vk_resource_discard(r);
    }
    return &r->external.base;
}

/* ---- What the buffer or image needs ---------------------------------------------------------- */

struct requirements {
    VkMemoryRequirements memory;
    bool prefers_dedicated, requires_dedicated;
};

static struct requirements requirements_of(const struct vk_resource *r)
{
    const struct vk_functions *vk = &r->device->vk;
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
        .pNext = &dedicated,
    };
    if (r->buffer) {
        const VkBufferMemoryRequirementsInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
            .buffer = r->buffer,
        };
        vk->vkGetBufferMemoryRequirements2(r->device->device, &info, &all);
    } else {
        const VkImageMemoryRequirementsInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
            .image = r->image,
        };
        vk->vkGetImageMemoryRequirements2(r->device->device, &info, &all);
    }
    return (struct requirements){
        .memory = all.memoryRequirements,
        .prefers_dedicated = dedicated.prefersDedicatedAllocation,
        .requires_dedicated = dedicated.requiresDedicatedAllocation,
    };
}

static gr_status check_place(const struct vk_resource *r, VkDeviceSize offset,
                             const VkMemoryRequirements *need, const char *call)
{
    const char *what = r->image ? "image" : "buffer";
    if (offset > r->memory_size || need->size > r->memory_size - offset)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The %s needs %llu bytes from offset %llu, but its memory has %llu: pass the "
            "allocationSize as `memory_size`, and the offset of vkBind%sMemory.",
            what, (unsigned long long)need->size, (unsigned long long)offset,
            (unsigned long long)r->memory_size, r->image ? "Image" : "Buffer");
    if (need->alignment > 1 && offset % need->alignment != 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "The offset %llu is no multiple of %llu, the alignment that Vulkan asks for "
                       "this %s: pass the offset that it was bound at.",
                       (unsigned long long)offset, (unsigned long long)need->alignment, what);
    return GR_OK;
}

gr_status vk_memory_check(const struct vk_resource *r, VkDeviceSize offset, const char *call)
{
    const char *what = r->image ? "image" : "buffer";
    if (!r->memory)
        return gr_fail(GR_ERR_INVALID_VALUE, call,
                       "`memory` is VK_NULL_HANDLE: pass what the %s is bound to.", what);
    if (r->memory_size == 0)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "`memory_size` is 0: pass the allocationSize that `memory` was allocated with.");
    if (r->dedicated && offset != 0)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The offset is %llu, but what has dedicated memory begins at 0: pass offset 0, "
            "or dedicated false if the memory was allocated without "
            "VkMemoryDedicatedAllocateInfo.",
            (unsigned long long)offset);
    struct requirements need = requirements_of(r);
    if (!r->dedicated && need.requires_dedicated)
        return gr_fail(
            GR_ERR_INVALID_VALUE, call,
            "The device requires dedicated memory for this %s: allocate it with "
            "VkMemoryDedicatedAllocateInfo and pass dedicated true, as CUDA has to know.",
            what);
    return check_place(r, offset, &need.memory, call);
}

/* ---- Allocation ------------------------------------------------------------------------------ */

/*
 * llvmpipe, OpenGL's counterpart of lavapipe, takes a buffer in imported memory only if there are
 * 48 bytes more than the buffer, of which lavapipe's own header is 40; so that OpenGL can have it
 * as well, there is more room. Dedicated memory has exactly the size that is required, by the rules
 * of Vulkan.
 */
static VkDeviceSize size_to_allocate(const struct vk_resource *r, const struct requirements *need)
{
    bool padded =
        r->buffer && !r->dedicated && r->device->identity.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    return need->memory.size + (padded ? LLVMPIPE_ROOM : 0);
}

static gr_status allocate(struct vk_resource *r, uint32_t type, bool has_address)
{
    const VkMemoryAllocateFlagsInfo address = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = has_address ? &address : NULL,
        .buffer = r->buffer,
        .image = r->image,
    };
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = r->dedicated ? &dedicated : dedicated.pNext,
        .handleTypes = GR_VK_MEMORY_HANDLE,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &export,
        .allocationSize = r->memory_size,
        .memoryTypeIndex = type,
    };
    VkResult result = r->device->vk.vkAllocateMemory(r->device->device, &info, NULL, &r->memory);
    if (result == VK_SUCCESS)
        return GR_OK;
    r->memory = VK_NULL_HANDLE;
    return vk_fail(result, "vkAllocateMemory",
                   "%llu bytes of memory that can be exported (type %u, %s) were not to be had.",
                   (unsigned long long)r->memory_size, type,
                   r->dedicated ? "dedicated" : "not dedicated");
}

static gr_status bind_memory(const struct vk_resource *r)
{
    const struct vk_functions *vk = &r->device->vk;
    VkDevice device = r->device->device;
    VkResult result = r->buffer ? vk->vkBindBufferMemory(device, r->buffer, r->memory, 0)
                                : vk->vkBindImageMemory(device, r->image, r->memory, 0);
    if (result == VK_SUCCESS)
        return GR_OK;
    return vk_fail(result, r->buffer ? "vkBindBufferMemory" : "vkBindImageMemory",
                   "%llu bytes of memory were allocated but could not be bound.",
                   (unsigned long long)r->memory_size);
}

gr_status vk_memory_allocate(struct vk_resource *r, VkExternalMemoryFeatureFlags features,
                             bool has_address, const char *call)
{
    struct requirements need = requirements_of(r);
    uint32_t type = vk_find_memory_type(r->device, need.memory.memoryTypeBits, 0);
    if (type == UINT32_MAX)
        return gr_fail(GR_ERR_VULKAN, call,
                       "No memory type of the device can be exported for this %s "
                       "(memoryTypeBits is 0x%x).",
                       r->image ? "image" : "buffer", need.memory.memoryTypeBits);
    r->dedicated = need.prefers_dedicated || need.requires_dedicated ||
                   (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT);
    r->memory_size = size_to_allocate(r, &need);
    gr_status status = allocate(r, type, has_address);
    return status == GR_OK ? bind_memory(r) : status;
}
