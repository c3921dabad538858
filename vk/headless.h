/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan without a window, as long as a device that was wrapped of it lives. */
#ifndef GR_VK_HEADLESS_H
#define GR_VK_HEADLESS_H

#include <grinterop/vk.h>

/* A hold of what gr_vk_headless_create() made this device for; NULL: it is the application's. */
gr_vk_headless *vk_headless_hold(VkDevice device);

/* The last one ends it. NULL is fine. */
void vk_headless_drop(gr_vk_headless *headless);

#endif
