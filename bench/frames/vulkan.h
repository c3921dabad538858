/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan's part of bench_frames, as its own files see it.
 */
#ifndef FRAMES_VULKAN_H
#define FRAMES_VULKAN_H

#include "examples/support/vulkan_memory.h"
#include "bench/frames/frames.h"

/* What is drawn, and into which target. */
struct frames_vulkan_plan {
    VkFormat format;
    int size; /* pixels each way */
    const struct glsl *vert, *frag;
    bool points; /* of vertices; else one triangle over all, to whose fragments the phase is pushed
                  */
};

/* What frames are drawn with. */
struct frames_vulkan_draw {
    int size;
    struct vulkan_image image;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

struct frames_vulkan {
    struct vulkan vulkan;
    struct frames_vulkan_draw draw;    /* of the points */
    struct frames_vulkan_draw picture; /* of what CUDA reads, while such a row is open */
    struct vulkan_buffer pixels;
    const VkCommandBuffer *stamps; /* if not NULL, one to submit after each frame's drawing */
};

/*
 * vulkan_draw.c: false after an error, which has been printed; either way the free function
 * cleans up.
 */
bool frames_vulkan_draw_init(const struct vulkan *vulkan, const struct frames_vulkan_plan *plan,
                             struct frames_vulkan_draw *draw);
void frames_vulkan_draw_free(const struct vulkan *vulkan, struct frames_vulkan_draw *draw);
void frames_vulkan_draw_points(const struct vulkan *vulkan, const struct frames_vulkan_draw *draw,
                               VkCommandBuffer commands, VkBuffer vertices, uint32_t count);
/* And copied into the buffer. */
void frames_vulkan_draw_picture(const struct vulkan *vulkan, const struct frames_vulkan_draw *draw,
                                VkCommandBuffer commands, float phase, VkBuffer into);

/*
 * vulkan_rows.c: a submit after what `points` say, if they are given, which `stage` waits for: a
 * ring's resources have one pair of semaphores.
 */
bool frames_vulkan_submit(const struct frames *frames, const VkCommandBuffer commands[], uint32_t n,
                          const gr_submit *points, VkPipelineStageFlags stage);

/*
 * Commands for a ring's buffer that come after CUDA's use, and before the next one; NULL or false
 * after an error, which has been printed.
 */
VkCommandBuffer frames_vulkan_begin(const struct frames *frames, gr_resource *resource,
                                    const gr_vk_use *use);
bool frames_vulkan_end(const struct frames *frames, VkCommandBuffer commands, gr_resource *resource,
                       const gr_vk_use *use);

/* What the slots of a row's ring are, and what is recorded for each of them. */
struct frames_vulkan_slots {
    VkBufferUsageFlags usage;
    unsigned flags;
    gr_side producer;
    unsigned commands; /* a slot has */
    bool (*record)(struct frames *frames, struct frames_run *run, gr_resource *resource,
                   unsigned slot);
};

/* Makes the run's commands and its ring. False after an error, which has been printed. */
bool frames_vulkan_make_ring(struct frames *frames, struct frames_run *run,
                             const struct frames_vulkan_slots *slots);

/* False, and the reason is said, where there is no Vulkan. */
bool frames_vulkan_is_there(const struct frames *frames);

#endif
