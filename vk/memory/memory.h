/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan device memory: requirements, exportable allocation, checks of the application's
 * descriptions, and the import into CUDA of the handle that Vulkan exports.
 */
#ifndef GR_VK_MEMORY_MEMORY_H
#define GR_VK_MEMORY_MEMORY_H

#include "lib/external/external.h"
#include "lib/external/tensor_memory.h"
#include "vk/device/device.h"

/* A buffer or an image (the other field is VK_NULL_HANDLE), and the memory that it is bound to. */
struct vk_binding {
    gr_vk_device *device;
    VkBuffer buffer;
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
    bool dedicated; /* the memory is allocated for this buffer or image only */
    /* GR_TRANSPORT_EXTERNAL, or 0: CUDA imports the memory, so it must be exportable */
    gr_transport transport;
};

/* Whether the contents are copied, so that CUDA does not access the memory. */
static inline bool vk_is_copied(const struct vk_binding *binding)
{
    return binding->transport & (GR_TRANSPORT_PEER | GR_TRANSPORT_COPY);
}

/* Destroys the buffer or image, and frees its memory. */
void vk_binding_end(const struct vk_binding *binding);

/* What the program passes as `memory_size`, for messages. Allocators know it by another name. */
#define VK_MEMORY_SIZE                                                                             \
    "the allocationSize of the whole memory (with VMA: VmaAllocationInfo2::blockSize)"

/*
 * Checks that the application's buffer or image can be bound at *offset of its memory. A copied one
 * may have unknown memory: *offset is then set to 0, and the size to what a buffer needs.
 */
gr_status vk_memory_check(struct vk_binding *binding, VkDeviceSize *offset);

/*
 * Checks that the handle types in the struct `type` of the application's chain, which messages call
 * `name`, include the handle type that CUDA imports. The struct may be missing.
 */
gr_status vk_check_handle_types(const void *chain, VkStructureType type, const char *name);

/*
 * Allocates memory for the buffer or image, exportable unless it is copied, and binds it.
 * `features` are the external memory features of the device. `has_address`: the device address of
 * the buffer will be used. If the bind fails, the memory stays allocated.
 */
gr_status vk_memory_allocate(struct vk_binding *binding, VkExternalMemoryFeatureFlags features,
                             bool has_address);

/*
 * Returns the best of the memory types `types` (VkMemoryRequirements.memoryTypeBits): it has all
 * `needed` properties, if possible the `liked` ones, and then if possible none of the `disliked`.
 * UINT32_MAX if there is none.
 */
uint32_t vk_memory_type(const gr_vk_device *device, uint32_t types, VkMemoryPropertyFlags needed,
                        VkMemoryPropertyFlags liked, VkMemoryPropertyFlags disliked);

/*
 * Allocates memory, which messages call `what`, and binds the buffer or image to it at an offset.
 */
gr_status vk_memory_bind(struct vk_binding *binding, const VkMemoryAllocateInfo *info,
                         VkDeviceSize offset, const char *what);

/*
 * Imports memory of CUDA, which contains that of a tensor, and binds the buffer to it. If the bind
 * fails, the memory stays imported. GR_ERR_UNSUPPORTED on Windows, where CUDA exports no fd.
 */
gr_status vk_memory_open(struct vk_binding *binding, const struct gr_tensor_memory *memory);

/*
 * Exports the memory and makes `resource` a resource of a part of it, like gr_external_make().
 * Afterwards either CUDA owns the handle, or the handle is closed.
 */
gr_status vk_memory_import(const struct vk_binding *binding, struct gr_external *resource,
                           const struct gr_context *context, const gr_external_part_desc *part,
                           unsigned flags);

/* Exports the memory and imports all of it, like gr_import_memory(). */
struct gr_import *vk_memory_import_whole(const struct vk_binding *binding);

/* ---- Resources ------------------------------------------------------------------------------- */

/* A resource made from a Vulkan buffer or image, or created with one. */
struct vk_resource {
    struct gr_external external;
    struct vk_binding binding; /* buffer or image, and memory; the device is held */
    /* several queue families use the resource, so no family owns it */
    bool concurrent;
    bool owned;                /* the Vulkan objects are destroyed with the resource */
    char transport[720];       /* for gr_resource_describe(), if the resource is copied */
    const char *why;           /* while the resource is made: why it is copied */
    unsigned in_flight;        /* the number of staging buffers that take turns; 0: none do */
    VkImageAspectFlags aspect; /* the fields from here on are for images only */
    const char *format;
};

/* ---- Checks of buffers and images ------------------------------------------------------------ */

/* Returns the first struct of that type in the chain; NULL if there is none. */
static inline const void *vk_chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *each = chain; each; each = each->pNext)
        if (each->sType == type)
            return each;
    return NULL;
}

/*
 * Checks an image: GR_ERR_INVALID_VALUE if it is invalid in Vulkan, GR_ERR_UNSUPPORTED if CUDA
 * cannot use it.
 */
gr_status vk_image_check(const VkImageCreateInfo *info, bool copied);

#endif
