/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan's part of bench_frames, as its own files see it.
 */
#ifndef FRAMES_VULKAN_H
#define FRAMES_VULKAN_H

#include "examples/vulkan_memory.h"
#include "tests/bench/frames/frames.h"

/* What all of Vulkan's frames draw with. */
struct frames_vulkan_draw {
    struct vulkan_image image;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

struct frames_vulkan {
    struct vulkan vulkan;
    struct frames_vulkan_draw draw;
    struct vulkan_buffer pixels;
    const VkCommandBuffer *stamps; /* if not NULL, one to submit after each frame's drawing */
};

/*
 * vulkan_draw.c: false after an error, which has been printed; either way the free function
 * cleans up.
 */
bool frames_vulkan_draw_init(const struct vulkan *vulkan, struct frames_vulkan_draw *draw);
void frames_vulkan_draw_free(const struct vulkan *vulkan, struct frames_vulkan_draw *draw);
void frames_vulkan_draw_record(const struct vulkan *vulkan, const struct frames_vulkan_draw *draw,
                               VkCommandBuffer commands, VkBuffer vertices, uint32_t count);

#endif
