/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan part of bench_frames. */
#ifndef FRAMES_VULKAN_H
#define FRAMES_VULKAN_H

#include "bench/frames/vulkan_memory.h"
#include "bench/frames/frames.h"

/* The shaders and the target. */
struct frames_vulkan_plan {
    VkFormat format;
    int size; /* the pixels per side of the target */
    const struct glsl *vert, *frag;
    /*
     * whether the vertices are points; if not, one triangle is drawn, with the phase as a push
     * constant
     */
    bool points;
};

/* The objects used to draw a frame. */
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
    gr_vk_device_desc on;              /* the device */
    gr_vk_device *copying;             /* the same device, with copies through host memory */
    gr_vk_device *peer;                /* the same device, with copies from GPU to GPU, or NULL */
    struct vulkan transfer;            /* the same device, with its transfer queue */
    gr_semaphore *moved;               /* the transfer queue signals each copy by the next value */
    uint64_t moves;                    /* the last value of `moved` */
    struct frames_vulkan_draw draw;    /* draws the points */
    struct frames_vulkan_draw picture; /* draws the picture, for the rows that have one */
    struct vulkan_buffer pixels;
};

/*
 * vulkan_draw.c: false after an error, which has been printed. The free function cleans up in any
 * case.
 */
bool frames_vulkan_draw_init(const struct vulkan *vulkan, const struct frames_vulkan_plan *plan,
                             struct frames_vulkan_draw *draw);
void frames_vulkan_draw_free(const struct vulkan *vulkan, struct frames_vulkan_draw *draw);
void frames_vulkan_draw_points(const struct vulkan *vulkan, const struct frames_vulkan_draw *draw,
                               VkCommandBuffer commands, VkBuffer vertices, uint32_t count);
/* Draws the picture and copies it to the buffer. */
void frames_vulkan_draw_picture(const struct vulkan *vulkan, const struct frames_vulkan_draw *draw,
                                VkCommandBuffer commands, float phase, VkBuffer into);

/*
 * software_vulkan.c: opens Vulkan on the CPU. After an error, which has been set, close what has
 * been opened, too.
 */
bool frames_software_vulkan_open(gr_vk_device_desc *on);
void frames_software_vulkan_close(const gr_vk_device_desc *on);

/* vulkan_rows.c: describes the device with this queue, and copies by `transport` only. */
gr_vk_device_desc frames_vulkan_copying(const struct frames_vulkan *vulkan, unsigned transport,
                                        VkQueue queue, uint32_t family);

/* A value of a timeline semaphore; VK_NULL_HANDLE: none. */
struct frames_point {
    VkSemaphore semaphore;
    uint64_t value;
};

/* vulkan_rows.c: the first of `n` semaphores with its value. */
struct frames_point frames_first_point(gr_semaphore *const semaphores[], const uint64_t values[],
                                       size_t n);

/* vulkan_rows.c: submits commands to the queue of `vulkan`. `stage` waits for `wait`. */
bool frames_vulkan_submit_to(const struct vulkan *vulkan, const VkCommandBuffer commands[],
                             uint32_t n, const struct frames_point *wait,
                             VkPipelineStageFlags stage, const struct frames_point *signal);

/* vulkan_copy_rows.c: frees the transfer queue, if there is one. */
void frames_transfer_queue_close(struct frames_vulkan *vulkan);

/*
 * vulkan_rows.c: submits commands with the waits and signals of `points`, if given. `stage` is the
 * stage that waits. The resources of a ring share one pair of semaphores.
 */
bool frames_vulkan_submit(const struct frames *frames, const VkCommandBuffer commands[], uint32_t n,
                          const gr_submit *points, VkPipelineStageFlags stage);

/*
 * Record the Vulkan commands between two CUDA uses of a ring buffer. NULL or false after an error,
 * which has been printed.
 */
VkCommandBuffer frames_vulkan_begin(const struct frames *frames, gr_resource *resource,
                                    const gr_vk_use *use);
bool frames_vulkan_end(const struct frames *frames, VkCommandBuffer commands, gr_resource *resource,
                       const gr_vk_use *use);

/* The slots of a ring, and the commands that are recorded for each slot. */
struct frames_vulkan_slots {
    VkBufferUsageFlags usage;
    unsigned flags;
    gr_side producer;
    unsigned commands; /* the number of command buffers per slot */
    bool two_families; /* the graphics and the transfer queue use the buffers */
    bool (*record)(struct frames *frames, struct frames_run *run, gr_resource *resource,
                   unsigned slot);
};

/* Creates the commands and the ring of the run. False after an error, which has been printed. */
bool frames_vulkan_make_ring(struct frames *frames, struct frames_run *run,
                             const struct frames_vulkan_slots *slots);

/* Whether Vulkan is available. If not, sets the error. */
bool frames_vulkan_available(const struct frames *frames);

#endif
