/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reference counts of headless Vulkan devices: a gr_vk_device keeps the device it wraps alive. */
#ifndef GR_VK_DEVICE_HEADLESS_H
#define GR_VK_DEVICE_HEADLESS_H

#include <grinterop/vk.h>

/*
 * Returns a reference to the gr_vk_headless object that owns this device; NULL if the application
 * owns the device.
 */
gr_vk_headless *vk_headless_hold(VkDevice device);

/* Drops a reference. The last drop destroys the object. NULL is allowed. */
void vk_headless_drop(gr_vk_headless *headless);

#endif
