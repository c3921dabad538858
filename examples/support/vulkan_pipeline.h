/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan pipelines from embedded shaders, and their descriptors. */
#ifndef VULKAN_PIPELINE_H
#define VULKAN_PIPELINE_H

#include "glsl.h"
#include "vulkan.h"

/* One binding of the shaders: a uniform buffer, or an image with an optional sampler. */
struct vulkan_binding {
    VkDescriptorType type;
    VkShaderStageFlags stages;
    VkBuffer buffer;
    VkImageView view;
    VkImageLayout layout;
    VkSampler sampler;
};

/* A descriptor set with its layout and pool. */
struct vulkan_set {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
};

enum { VULKAN_MOST_BINDINGS = 4 };

/*
 * bindings[i] becomes binding i. `constants` is the number of bytes of push constants, which all
 * stages of the bindings can read.
 */
bool vulkan_set_init(const struct vulkan *vulkan, const struct vulkan_binding bindings[],
                     uint32_t count, uint32_t constants, struct vulkan_set *set);
void vulkan_set_free(const struct vulkan *vulkan, struct vulkan_set *set);

/*
 * A pipeline for triangles without blending or culling. Viewport and scissor are dynamic.
 * `vertices` may be NULL. `depth` enables the depth test.
 */
struct vulkan_pipeline_info {
    const struct glsl *vertex, *fragment;
    VkPipelineLayout layout;
    VkRenderPass pass;
    const VkPipelineVertexInputStateCreateInfo *vertices;
    bool depth;
};

/* The pipeline. VK_NULL_HANDLE after an error, which has been printed. */
VkPipeline vulkan_graphics_pipeline(const struct vulkan *vulkan,
                                    const struct vulkan_pipeline_info *info);
VkPipeline vulkan_compute_pipeline(const struct vulkan *vulkan, const struct glsl *shader,
                                   VkPipelineLayout layout);

/*
 * A sampler that clamps to the edge, with a linear or nearest filter. VK_NULL_HANDLE after an
 * error.
 */
VkSampler vulkan_sampler(const struct vulkan *vulkan, VkFilter filter);

#endif
