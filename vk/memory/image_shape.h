/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks which Vulkan images CUDA can use: extent, layers, levels, flags, tiling and samples.
 * format.c covers the formats.
 */
#ifndef GR_VK_MEMORY_IMAGE_SHAPE_H
#define GR_VK_MEMORY_IMAGE_SHAPE_H

#include <grinterop/vk.h>

/*
 * Checks an image: GR_ERR_INVALID_VALUE if it is invalid in Vulkan, GR_ERR_UNSUPPORTED if CUDA
 * cannot use it.
 */
gr_status vk_image_check(const VkImageCreateInfo *info, const char *call);

#endif
