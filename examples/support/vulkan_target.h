/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An offscreen render target in Vulkan: colour and depth, one sample per pixel, and a buffer to
 * read the colour from.
 */
#ifndef VULKAN_TARGET_H
#define VULKAN_TARGET_H

#include "vulkan_memory.h"

struct vulkan_target {
    int width, height;
    struct vulkan_image colour, depth;
    /* the colour for the host: 4 bytes per pixel (RGBA), the top row first */
    struct vulkan_buffer pixels;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
};

/* False after an error, which has been printed. vulkan_target_free() cleans up in any case. */
bool vulkan_target_init(const struct vulkan *vulkan, int width, int height,
                        struct vulkan_target *target);
void vulkan_target_free(const struct vulkan *vulkan, struct vulkan_target *target);

/*
 * Records the start of drawing: clears the depth, leaves the colour undefined, and sets the
 * viewport to the whole target with y upwards in clip space. vulkan_target_end() records the end of
 * drawing and the copy to `pixels`. The host may read `pixels` once the copy is done.
 */
void vulkan_target_begin(const struct vulkan *vulkan, const struct vulkan_target *target,
                         VkCommandBuffer commands);
void vulkan_target_end(const struct vulkan *vulkan, const struct vulkan_target *target,
                       VkCommandBuffer commands);

#endif
