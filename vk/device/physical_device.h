/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the VkPhysicalDevice of a CUDA device. */
#ifndef GR_VK_DEVICE_PHYSICAL_DEVICE_H
#define GR_VK_DEVICE_PHYSICAL_DEVICE_H

#include "vk/device/device_match.h"
#include "vk/device/functions.h"

/*
 * Finds the device and its identity. The CUDA driver must be loaded. GR_ERR_INVALID_VALUE: the CUDA
 * device does not exist. GR_ERR_UNSUPPORTED: no device matches, and the message lists the Vulkan
 * devices. GR_ERR_VULKAN: the devices could not be listed.
 */
gr_status vk_physical_device_find(const struct vk_functions *vk, VkInstance instance,
                                  int cuda_device, VkPhysicalDevice *device,
                                  struct vk_identity *identity, const char *call);

#endif
