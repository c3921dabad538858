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

/*
 * vulkan_rows.c: creates the resources and the ring of a row. record() records `commands` command
 * buffers for each slot.
 */
void frames_vulkan_make_ring(struct frames_run *run, unsigned commands, VkBufferUsageFlags usage,
                             void (*record)(struct frames_run *run, gr_resource *resource,
                                            unsigned slot));

/* Record the Vulkan commands between two CUDA uses of a resource of a ring. */
VkCommandBuffer frames_vulkan_begin(gr_resource *resource, const gr_vk_use *use);
void frames_vulkan_end(VkCommandBuffer commands, gr_resource *resource, const gr_vk_use *use);

/*
 * Submits n commands. Unless `points` is NULL, `stage` waits for the semaphore of the submit, which
 * the resources of a ring share, and the other semaphore is signalled.
 */
void frames_vulkan_submit(const VkCommandBuffer commands[], uint32_t n, const gr_submit *points,
                          VkPipelineStageFlags stage);

#endif
