/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Headless Vulkan, as grinterop requires it. */
#ifndef INFO_VULKAN_H
#define INFO_VULKAN_H

#include <grinterop/vk.h>

/* Describes the device that gr_vk_headless_create() created, with its graphics queue. */
gr_vk_device_desc vulkan_desc(const gr_vk_headless *headless);

#endif
