/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan's side of pingpong: two images that CUDA shares, and a picture to which their contents go
 * as tiles. All command buffers are recorded once: one for each tile, which uses the image of even
 * or of odd frames.
 */
#ifndef PINGPONG_VK_H
#define PINGPONG_VK_H

#include "pingpong.h"
#include "examples/support/vulkan_memory.h"
#include "examples/support/vulkan_pipeline.h"

struct pingpong_vk {
    struct vulkan vulkan;
    enum vulkan_queue queue;
    int width, height;
    gr_resource *images[2];
    struct vulkan_image picture; /* in VK_IMAGE_LAYOUT_GENERAL */
    struct vulkan_buffer pixels; /* of the picture */
    VkImageView views[2];
    VkSampler sampler;
    struct vulkan_set sets[2];
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipeline pipeline; /* for graphics or compute; a transfer queue has none */
    VkCommandBuffer tiles[TILES];
};

/* False after an error, which has been printed. Either way pingpong_vk_close() cleans up. */
bool pingpong_vk_open(struct pingpong_vk *vk, enum vulkan_queue queue, bool validate);
/* False if the validation layer had something to say. */
bool pingpong_vk_close(struct pingpong_vk *vk);

/* Submits the use of the frame's image, after CUDA's release of it. The thread does not wait. */
bool pingpong_vk_use(const struct pingpong_vk *vk, int frame);

/* Waits for all frames; then `pixels` holds the picture, 4 bytes a pixel, the top row first. */
bool pingpong_vk_finish(const struct pingpong_vk *vk);

/* The left upper corner of a tile in the picture. */
VkOffset2D pingpong_vk_place(int tile);

#endif
