/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images of Vulkan's CUDA can see: their extent, layers, levels, flags, tiling and samples.
 * What it sees of their formats is in format.c.
 */
#ifndef GR_VK_IMAGE_RULES_H
#define GR_VK_IMAGE_RULES_H

#include <grinterop/vk.h>

/* GR_ERR_INVALID_VALUE if there can be no such image, GR_ERR_UNSUPPORTED if CUDA has none. */
gr_status vk_image_check(const VkImageCreateInfo *info, const char *call);

#endif
