/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images of Vulkan's CUDA can see: their extent, layers, levels, flags, tiling and samples.
 * What it sees of their formats is in format.c.
 */
#ifndef GR_VK_IMAGE_RULES_H
#define GR_VK_IMAGE_RULES_H

#include <grinterop/vk.h>

/* GR_ERR_INVALID_VALUE if there can be no such image, GR_ERR_UNSUPPORTED if CUDA has none. */
gr_status vk_image_check(const gr_vk_image_desc *info, const char *call);

/* In gr_vk_image_desc 0 levels or layers are one. */
static inline uint32_t vk_at_least_one(uint32_t count)
{
    return count ? count : 1;
}

#endif
