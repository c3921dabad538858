/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Headless Vulkan, as grinterop takes it. */
#ifndef INFO_VULKAN_H
#define INFO_VULKAN_H

#include <grinterop/vk.h>

/* Describes the device of gr_vk_headless_create(), with its graphics queue. */
gr_vk_device_desc vulkan_desc(const gr_vk_headless *headless);

#endif
