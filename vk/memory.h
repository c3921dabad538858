/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a Vulkan device: what a buffer or image needs, its allocation so that it can be
 * exported, and the check of what the application says of its own.
 */
#ifndef GR_VK_MEMORY_H
#define GR_VK_MEMORY_H

#include "vk/device.h"

/* A buffer or an image, the other is VK_NULL_HANDLE, and the memory that it is bound to. */
struct vk_binding {
    gr_vk_device *device;
    VkBuffer buffer;
    VkImage image;
    VkDeviceMemory memory;
    VkDeviceSize memory_size;
    bool dedicated; /* the memory is for this buffer or image alone */
};

/* Whether the application's buffer or image can be bound at `offset` of its memory, as it says. */
gr_status vk_memory_check(const struct vk_binding *binding, VkDeviceSize offset, const char *call);

/* Whether what the application asked to export in `type` has what CUDA imports among it. */
gr_status vk_check_handle_types(VkExternalMemoryHandleTypeFlags types, const char *type,
                                const char *call);

/*
 * Allocates memory that can be exported for the buffer or image, and binds it. `features` is what
 * the device says of such external memory; `has_address`: the buffer's device address is going to
 * be asked for. After an error the memory is there still if it could only not be bound.
 */
gr_status vk_memory_allocate(struct vk_binding *binding, VkExternalMemoryFeatureFlags features,
                             bool has_address, const char *call);

#endif
