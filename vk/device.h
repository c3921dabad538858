/* SPDX-License-Identifier: Apache-2.0 */
/* The application's Vulkan device as the rest of vk/ sees it. */
#ifndef GR_VK_DEVICE_H
#define GR_VK_DEVICE_H

#include "lib/context.h"
#include "vk/device_match.h"
#include "vk/functions.h"

struct gr_vk_device {
    unsigned holds; /* changed atomically */
    struct vk_functions vk;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    VkQueue queue; /* may be VK_NULL_HANDLE */
    uint32_t queue_family;
    VkPhysicalDeviceMemoryProperties memory;
    struct vk_identity identity;
    CUdevice cuda;
    int cuda_ordinal;
    struct gr_context context; /* the one that was current, or the primary one */
    bool has_timeline; /* timeline semaphores at all; that the feature is enabled cannot be asked */
    bool exports_timeline, exports_binary; /* such semaphores can be handed to CUDA */
};

/* One hold more, and less. */
void vk_device_hold(gr_vk_device *device);
void vk_device_drop(gr_vk_device *device);

/*
 * The device's CUDA context with a hold of its own, for a resource or semaphore that may outlive
 * the wrap. GR_ERR_CUDA.
 */
gr_status vk_device_context(const gr_vk_device *device, struct gr_context *context,
                            const char *call);

/*
 * A memory type out of `type_bits` (VkMemoryRequirements.memoryTypeBits) that has all of `wanted`,
 * one that is local to the device if there is such. UINT32_MAX if there is none.
 */
uint32_t vk_find_memory_type(const gr_vk_device *device, uint32_t type_bits,
                             VkMemoryPropertyFlags wanted);

#endif
