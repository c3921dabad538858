/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How port's sheet is drawn in Vulkan, wherever that is shown.
 */
#ifndef PORT_VK_DRAW_H
#define PORT_VK_DRAW_H

#include "port_renderer.h"
#include "examples/support/vulkan_memory.h"
#include "examples/support/vulkan_pipeline.h"

struct port_vk {
    const struct vulkan *vulkan;
    struct vulkan_buffer uniforms; /* a struct port_view, to be written before a submit */
    struct vulkan_buffer indices;
    gr_resource **shared;
    VkImageView paper;
    VkSampler sampler;
    struct vulkan_set set;
    VkPipeline background, surface;
};

/*
 * Makes what is drawn, and the resources that CUDA shares. False after an error, which has been
 * printed; either way port_vk_free() cleans up once nothing of it is in use, and zeros are fine.
 */
bool port_vk_init(struct port_vk *port, const struct vulkan *vulkan, VkRenderPass pass,
                  gr_resource *shared[PORT_SHARED]);
void port_vk_free(struct port_vk *port);

/* Records the drawing, within a render pass like that. */
void port_vk_record(const struct port_vk *port, VkCommandBuffer commands);

/* Submits a frame's commands, which signal vulkan_wait()'s fence; `submit` is for `shared`. */
bool port_vk_submit(const struct port_vk *port, gr_submit *submit, const VkSubmitInfo2 *info);

#endif
