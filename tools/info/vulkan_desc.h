/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan without a window, as grinterop takes it. */
#ifndef INFO_VULKAN_DESC_H
#define INFO_VULKAN_DESC_H

#include <grinterop/vk.h>

/* What gr_vk_headless_create() made, for gr_vk_device_wrap(), with its queue for graphics. */
gr_vk_device_desc vulkan_desc(const gr_vk_headless_info *made);

#endif
