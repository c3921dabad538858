/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Memory of a Vulkan device; see memory.h. */
#include "vk/memory/memory.h"

#include "lib/base/error.h"
#include "lib/external/external.h"

void vk_binding_end(const struct vk_binding *b)
{
    const struct vk_functions *vk = &b->device->vk;
    vk->vkDestroyBuffer(b->device->device, b->buffer, NULL);
    vk->vkDestroyImage(b->device->device, b->image, NULL);
    vk->vkFreeMemory(b->device->device, b->memory, NULL);
}

/* ---- Requirements ---------------------------------------------------------------------------- */

struct requirements {
    VkMemoryRequirements memory;
    bool prefers_dedicated, requires_dedicated;
};

static struct requirements requirements_of(const struct vk_binding *b)
{
    const struct vk_functions *vk = &b->device->vk;
    VkDevice device = b->device->device;
    struct requirements need = {.prefers_dedicated = false};
    if (!vk->vkGetBufferMemoryRequirements2 || !vk->vkGetImageMemoryRequirements2) {
        /* Vulkan 1.0 has no dedicated memory */
        if (b->buffer)
            vk->vkGetBufferMemoryRequirements(device, b->buffer, &need.memory);
        else
            vk->vkGetImageMemoryRequirements(device, b->image, &need.memory);
        return need;
    }
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
        .pNext = &dedicated,
    };
    if (b->buffer) {
        const VkBufferMemoryRequirementsInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
            .buffer = b->buffer,
        };
        vk->vkGetBufferMemoryRequirements2(device, &info, &all);
    } else {
        const VkImageMemoryRequirementsInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_REQUIREMENTS_INFO_2,
            .image = b->image,
        };
        vk->vkGetImageMemoryRequirements2(device, &info, &all);
    }
    return (struct requirements){
        .memory = all.memoryRequirements,
        .prefers_dedicated = dedicated.prefersDedicatedAllocation,
        .requires_dedicated = dedicated.requiresDedicatedAllocation,
    };
}

static gr_status check_place(const struct vk_binding *b, VkDeviceSize offset,
                             const VkMemoryRequirements *need)
{
    const char *what = b->image ? "image" : "buffer";
    GR_REFUSE_IF(
        offset > b->memory_size || need->size > b->memory_size - offset,
        "The %s needs %llu byte%s from offset %llu, but its memory has %llu: pass " VK_MEMORY_SIZE
        " as `memory_size`, and the offset of vkBind%sMemory.",
        what, (unsigned long long)need->size, gr_s(need->size), (unsigned long long)offset,
        (unsigned long long)b->memory_size, b->image ? "Image" : "Buffer");
    GR_REFUSE_IF(need->alignment > 1 && offset % need->alignment != 0,
                 "The offset %llu is not a multiple of %llu, the alignment that Vulkan requires "
                 "for this %s: pass the offset that it was bound at.",
                 (unsigned long long)offset, (unsigned long long)need->alignment, what);
    return GR_OK;
}

gr_status vk_memory_check(struct vk_binding *b, VkDeviceSize *offset)
{
    const char *what = b->image ? "image" : "buffer";
    if (!b->memory && vk_is_copied(b)) {
        *offset = 0;
        if (b->buffer)
            b->memory_size = requirements_of(b).memory.size;
        return GR_OK;
    }
    GR_REFUSE_IF(!b->memory,
                 "`memory` is VK_NULL_HANDLE: pass the memory that the %s is bound to. If the "
                 "program does not know it, or did not allocate it for export, wrap the device "
                 "with transports = GR_TRANSPORT_ANY, which then copies.",
                 what);
    GR_REFUSE_IF(b->memory_size == 0, "`memory_size` is 0: pass " VK_MEMORY_SIZE ".");
    GR_REFUSE_IF(
        b->dedicated && *offset != 0,
        "The offset is %llu, but dedicated memory is used from offset 0: pass offset 0, or "
        "dedicated false if the memory was allocated without VkMemoryDedicatedAllocateInfo.",
        (unsigned long long)*offset);
    struct requirements need = requirements_of(b);
    GR_REFUSE_IF(!b->dedicated && need.requires_dedicated,
                 "The device requires dedicated memory for this %s: allocate it with "
                 "VkMemoryDedicatedAllocateInfo, and set `dedicated` to true, because CUDA needs "
                 "to know this.",
                 what);
    return check_place(b, *offset, &need.memory);
}

gr_status vk_check_handle_types(const void *chain, VkStructureType type, const char *name)
{
    /* VkExternalMemoryImageCreateInfo has the same fields */
    const VkExternalMemoryBufferCreateInfo *external = vk_chain_find(chain, type);
    if (!external || external->handleTypes & GR_VK_MEMORY_HANDLE)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE,
                   "The handleTypes of %s are 0x%x, without "
                   "VK_EXTERNAL_MEMORY_HANDLE_TYPE_" GR_VK_HANDLE_NAME
                   "_BIT: add the bit, or leave the struct out, since grinterop adds it.",
                   name, external->handleTypes);
}

/* ---- Allocation ------------------------------------------------------------------------------ */

uint32_t vk_memory_type(const gr_vk_device *device, uint32_t types, VkMemoryPropertyFlags needed,
                        VkMemoryPropertyFlags liked, VkMemoryPropertyFlags disliked)
{
    /* such memory types need more than vkAllocateMemory, or are slow for ordinary use */
    const VkMemoryPropertyFlags special =
        VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |
        VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;
    uint32_t best = UINT32_MAX;
    int best_value = -1;
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags has = device->memory.memoryTypes[i].propertyFlags;
        int value = !!(has & liked) * 2 + !(has & disliked);
        if ((types >> i & 1) && (has & needed) == needed && !(has & special) &&
            value > best_value) {
            best = i;
            best_value = value;
        }
    }
    return best;
}

gr_status vk_memory_bind(struct vk_binding *b, const VkMemoryAllocateInfo *info,
                         VkDeviceSize offset, const char *what)
{
    const struct vk_functions *vk = &b->device->vk;
    VkDevice device = b->device->device;
    VkResult result = vk->vkAllocateMemory(device, info, NULL, &b->memory);
    if (result != VK_SUCCESS) {
        b->memory = VK_NULL_HANDLE;
        return vk_fail(result, "vkAllocateMemory",
                       "%s could not be allocated (bytes: %llu, type %u, %s).", what,
                       (unsigned long long)info->allocationSize, info->memoryTypeIndex,
                       b->dedicated ? "dedicated" : "not dedicated");
    }
    result = b->buffer ? vk->vkBindBufferMemory(device, b->buffer, b->memory, offset)
                       : vk->vkBindImageMemory(device, b->image, b->memory, offset);
    if (result == VK_SUCCESS)
        return GR_OK;
    return vk_fail(result, b->buffer ? "vkBindBufferMemory" : "vkBindImageMemory",
                   "%s was allocated but could not be bound (bytes: %llu).", what,
                   (unsigned long long)info->allocationSize);
}

static gr_status allocate(struct vk_binding *b, uint32_t type, bool has_address)
{
    const bool copied = vk_is_copied(b);
    const void *rights = copied ? NULL : vk_memory_rights;
    const VkMemoryAllocateFlagsInfo address = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .pNext = rights,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .pNext = has_address ? &address : rights,
        .buffer = b->buffer,
        .image = b->image,
    };
    const VkExportMemoryAllocateInfo export = {
        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .pNext = b->dedicated ? &dedicated : dedicated.pNext,
        .handleTypes = GR_VK_MEMORY_HANDLE,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = copied ? export.pNext : &export,
        .allocationSize = b->memory_size,
        .memoryTypeIndex = type,
    };
    return vk_memory_bind(b, &info, 0, copied ? "Memory" : "Exportable memory");
}

gr_status vk_memory_allocate(struct vk_binding *b, VkExternalMemoryFeatureFlags features,
                             bool has_address)
{
    struct requirements need = requirements_of(b);
    uint32_t type = vk_memory_type(b->device, need.memory.memoryTypeBits, 0,
                                   VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    if (type == UINT32_MAX)
        return gr_fail(GR_ERR_VULKAN,
                       "No memory type of the device can be exported for this %s "
                       "(memoryTypeBits is 0x%x): share another %s, and copy between the two on "
                       "the device.",
                       b->image ? "image" : "buffer", need.memory.memoryTypeBits,
                       b->image ? "image" : "buffer");
    b->dedicated = need.prefers_dedicated || need.requires_dedicated ||
                   (features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT) ||
                   /* another device can import only dedicated memory */
                   (!vk_is_copied(b) && vk_device_crosses(b->device));
    /*
     * llvmpipe, the OpenGL counterpart of lavapipe, accepts a buffer in imported memory only if the
     * memory has 48 bytes more than the buffer; a header of lavapipe takes 40 of these bytes. The
     * padding lets OpenGL import the memory, too. For dedicated memory, Vulkan requires the exact
     * size.
     */
    const bool padded =
        b->buffer && !b->dedicated && b->device->identity.type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    b->memory_size = need.memory.size + (padded ? GR_MESA_ROOM : 0);
    return allocate(b, type, has_address);
}

/* ---- Memory that CUDA exported --------------------------------------------------------------- */

#ifdef _WIN32

gr_status vk_memory_open(struct vk_binding *b, const struct gr_tensor_memory *memory)
{
    (void)b, (void)memory;
    return gr_fail(GR_ERR_UNSUPPORTED,
                   "Vulkan imports the memory of tensors as a file descriptor, which Windows does "
                   "not have: copy the tensor to a buffer by gr_publish().");
}

#else

gr_status vk_memory_open(struct vk_binding *b, const struct gr_tensor_memory *memory)
{
    const struct requirements need = requirements_of(b);
    VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                      .handleType = GR_VK_MEMORY_HANDLE};
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &import,
        .allocationSize = memory->import.size,
        .memoryTypeIndex = vk_memory_type(b->device, need.memory.memoryTypeBits, 0,
                                          VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0),
    };
    const VkDeviceSize alignment = need.memory.alignment, size = need.memory.size;
    if (alignment > 1 && memory->offset % alignment != 0)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "The tensor begins %zu byte%s after the start of its allocation, but Vulkan "
                       "requires a multiple of %llu for this buffer: use an aligned part of the "
                       "tensor, or other usages.",
                       memory->offset, gr_s(memory->offset), (unsigned long long)alignment);
    if (memory->offset > memory->import.size || size > memory->import.size - memory->offset)
        return gr_fail(GR_ERR_UNSUPPORTED,
                       "Vulkan needs %llu byte%s for this buffer, but only %zu follow in the "
                       "allocation of the tensor: use a tensor that is not at its end.",
                       (unsigned long long)size, gr_s(size), memory->import.size - memory->offset);
    GR_TRY(gr_import_export(&memory->import, &import.fd));
    const gr_status status = vk_memory_bind(b, &info, memory->offset, "Memory of CUDA");
    vk_handle_close(import.fd, b->memory);
    b->memory_size = memory->import.size;
    return status;
}

#endif

/* ---- Import into CUDA ------------------------------------------------------------------------ */

/* Describes all the memory for CUDA, and exports its handle. */
static gr_status describe_memory(const struct vk_binding *b, gr_external_memory_desc *info)
{
    *info = GR_INIT(gr_external_memory_desc, .type = GR_VK_CUDA_MEMORY, .fd = -1,
                    .size = (size_t)b->memory_size, .dedicated = b->dedicated);
    return vk_export_memory(b->device, b->memory, &info->GR_VK_HANDLE_FIELD);
}

gr_status vk_memory_import(const struct vk_binding *b, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags)
{
    gr_external_memory_desc info;
    GR_TRY(describe_memory(b, &info));
    info.part = part;
    /* buffers were checked with the words of Vulkan */
    gr_status status = part->image ? gr_external_check_all(&info, flags) : GR_OK;
    if (status == GR_OK)
        status = gr_external_make(resource, context, &info, flags);
    vk_handle_close(info.GR_VK_HANDLE_FIELD, status == GR_OK);
    return status;
}

struct gr_import *vk_memory_import_whole(const struct vk_binding *b)
{
    gr_external_memory_desc info;
    if (describe_memory(b, &info) != GR_OK)
        return NULL;
    struct gr_import *import = gr_import_memory(&info);
    vk_handle_close(info.GR_VK_HANDLE_FIELD, false); /* the import has a copy */
    return import;
}
