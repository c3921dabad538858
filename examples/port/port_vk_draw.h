/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Draws the sheet of port in Vulkan, for any target. */
#ifndef PORT_VK_DRAW_H
#define PORT_VK_DRAW_H

#include "port_renderer.h"
#include "examples/support/vulkan_memory.h"
#include "examples/support/vulkan_pipeline.h"

struct port_vk {
    const struct vulkan *vulkan;
    struct vulkan_buffer uniforms; /* a struct port_view, which must be written before a submit */
    struct vulkan_buffer indices;
    gr_resource **shared;
    VkImageView paper;
    VkSampler sampler;
    struct vulkan_set set;
    VkPipeline background, surface;
};

/*
 * Creates the Vulkan objects used to draw, and the resources shared with CUDA. False after an
 * error, which has been printed; port_vk_free() cleans up in any case, once the GPU is done, and
 * accepts a zeroed struct.
 */
bool port_vk_init(struct port_vk *port, const struct vulkan *vulkan, VkRenderPass pass,
                  gr_resource *shared[PORT_SHARED]);
void port_vk_free(struct port_vk *port);

/* Records the draw commands, within a compatible render pass. */
void port_vk_record(const struct port_vk *port, VkCommandBuffer commands);

/*
 * Submits the commands of a frame with the fence that vulkan_wait() waits for. `submit` was begun
 * for `shared`.
 */
bool port_vk_submit(const struct port_vk *port, gr_submit *submit, const VkSubmitInfo2 *info);

#endif
