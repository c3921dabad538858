/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan part of pingpong: two images shared with CUDA, and a picture that receives their
 * contents as tiles. All command buffers are recorded once. There is one command buffer per tile,
 * which uses the image of the even or the odd frames.
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
    struct vulkan_image picture; /* the picture, in VK_IMAGE_LAYOUT_GENERAL */
    struct vulkan_buffer pixels; /* a copy of the picture for the host */
    VkImageView views[2];
    VkSampler sampler;
    struct vulkan_set sets[2];
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipeline pipeline; /* the pipeline for graphics or compute; a transfer queue has none */
    VkCommandBuffer tiles[TILES];
};

/* False after an error, which has been printed. pingpong_vk_close() cleans up in any case. */
bool pingpong_vk_open(struct pingpong_vk *vk, enum vulkan_queue queue, bool validate);
/* False if the validation layer printed a message. */
bool pingpong_vk_close(struct pingpong_vk *vk);

/*
 * Submits the Vulkan work with the image of a frame, after CUDA has released the image. Does not
 * block.
 */
bool pingpong_vk_use(const struct pingpong_vk *vk, int frame);

/* Waits for all frames. Then `pixels` has the picture, 4 bytes per pixel, the top row first. */
bool pingpong_vk_finish(const struct pingpong_vk *vk);

/* The upper left corner of a tile in the picture. */
VkOffset2D pingpong_vk_place(int tile);

#endif
