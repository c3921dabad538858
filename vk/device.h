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

/* What calls check first: that the device is not NULL, and for some that `info` is not. */
gr_status vk_check_device(const gr_vk_device *device, const char *call);
gr_status vk_check_arguments(const gr_vk_device *device, const void *info, const char *call);

#endif
