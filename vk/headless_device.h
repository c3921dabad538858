/* SPDX-License-Identifier: Apache-2.0 */
/* The device of Vulkan without a window: its queues, its features and grinterop's extensions. */
#ifndef GR_VK_HEADLESS_DEVICE_H
#define GR_VK_HEADLESS_DEVICE_H

#include "vk/device_match.h"
#include "vk/headless_functions.h"

/*
 * Makes the device and its queues on handles->physical_device, which `identity` is of. `version` is
 * the one that the instance was made for.
 */
gr_status vk_headless_create_device(const struct vk_headless_functions *vk,
                                    const struct vk_identity *identity, uint32_t version,
                                    gr_vk_headless_info *handles, const char *call);

#endif
