/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reference counts of headless Vulkan devices, which live as long as a wrap of them. */
#ifndef GR_VK_HEADLESS_H
#define GR_VK_HEADLESS_H

#include <grinterop/vk.h>

/*
 * Returns a hold on the gr_vk_headless_create() result that owns this device; NULL if the
 * application owns it.
 */
gr_vk_headless *vk_headless_hold(VkDevice device);

/* The last drop destroys it. NULL is allowed. */
void vk_headless_drop(gr_vk_headless *headless);

#endif
