/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan part of bench_frames. */
#ifndef FRAMES_VULKAN_H
#define FRAMES_VULKAN_H

#include "bench/frames/frames.h"

/* The objects used to draw a frame: points, or a triangle with the phase as a push constant. */
struct frames_vulkan_draw {
    bool points;
    VkRect2D area;
    struct bench_vk_object image;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

/* vulkan_draw.c */
void frames_vulkan_draw_init(struct frames_vulkan_draw *draw, bool points, int size);
void frames_vulkan_draw_points(const struct frames_vulkan_draw *draw, VkCommandBuffer commands,
                               VkBuffer vertices);
/* Draws the picture and copies it to the buffer. */
void frames_vulkan_draw_picture(const struct frames_vulkan_draw *draw, VkCommandBuffer commands,
                                float phase, VkBuffer into);

#endif
