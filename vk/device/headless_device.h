/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates the headless VkDevice: its queues, features and the extensions that grinterop uses. */
#ifndef GR_VK_DEVICE_HEADLESS_DEVICE_H
#define GR_VK_DEVICE_HEADLESS_DEVICE_H

#include "vk/device/device_match.h"
#include "vk/device/headless_functions.h"

/*
 * Creates the device and its queues on handles->physical_device, which `identity` describes.
 * `version` is the Vulkan version of the instance.
 */
gr_status vk_headless_create_device(const struct vk_headless_functions *vk,
                                    const struct vk_identity *identity, uint32_t version,
                                    gr_vk_headless_info *handles, const char *call);

#endif
