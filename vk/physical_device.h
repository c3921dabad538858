/* SPDX-License-Identifier: Apache-2.0 */
/* Which VkPhysicalDevice a CUDA device is. */
#ifndef GR_VK_PHYSICAL_DEVICE_H
#define GR_VK_PHYSICAL_DEVICE_H

#include "vk/device_match.h"

/* What is called of Vulkan for that. */
struct vk_device_list {
    VkInstance instance;
    PFN_vkEnumeratePhysicalDevices enumerate;
    PFN_vkGetPhysicalDeviceProperties2 get_properties;
};

/*
 * Finds the device and says what it is. The CUDA driver has to be loaded. GR_ERR_INVALID_VALUE:
 * there is no such CUDA device; GR_ERR_UNSUPPORTED lists the devices that Vulkan has;
 * GR_ERR_VULKAN.
 */
gr_status vk_physical_device_find(const struct vk_device_list *list, int cuda_device,
                                  VkPhysicalDevice *device, struct vk_identity *identity,
                                  const char *call);

#endif
