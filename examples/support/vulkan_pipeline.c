/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds Vulkan pipelines from embedded shaders. */
#include "vulkan_pipeline.h"

#include <stdio.h>

bool vulkan_set_init(const struct vulkan *v, const struct vulkan_binding bindings[], uint32_t count,
                     uint32_t constants, struct vulkan_set *s)
{
    VkDescriptorSetLayoutBinding places[VULKAN_MOST_BINDINGS];
    VkDescriptorPoolSize sizes[VULKAN_MOST_BINDINGS];
    VkShaderStageFlags stages = 0;
    for (uint32_t i = 0; i < count; i++) {
        places[i] =
            (VkDescriptorSetLayoutBinding){i, bindings[i].type, 1, bindings[i].stages, NULL};
        sizes[i] = (VkDescriptorPoolSize){bindings[i].type, 1};
        stages |= bindings[i].stages;
    }
    const VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = places};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = count,
                                             .pPoolSizes = sizes};
    if (!vulkan_ok(v->CreateDescriptorSetLayout(v->device, &set_layout, NULL, &s->set_layout),
                   "describe the shaders' bindings") ||
        !vulkan_ok(v->CreateDescriptorPool(v->device, &pool, NULL, &s->pool), "make descriptors"))
        return false;

    const VkPushConstantRange range = {stages, 0, constants};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &s->set_layout,
                                               .pushConstantRangeCount = constants > 0,
                                               .pPushConstantRanges = &range};
    const VkDescriptorSetAllocateInfo set = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = s->pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &s->set_layout};
    if (!vulkan_ok(v->CreatePipelineLayout(v->device, &layout, NULL, &s->layout),
                   "describe what the shaders read") ||
        !vulkan_ok(v->AllocateDescriptorSets(v->device, &set, &s->set), "make descriptors"))
        return false;

    for (uint32_t i = 0; i < count; i++) {
        const VkDescriptorImageInfo image = {bindings[i].sampler, bindings[i].view,
                                             bindings[i].layout};
        const VkDescriptorBufferInfo buffer = {bindings[i].buffer, 0, VK_WHOLE_SIZE};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = s->set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = bindings[i].type,
                                            .pImageInfo = &image,
                                            .pBufferInfo = &buffer};
        v->UpdateDescriptorSets(v->device, 1, &write, 0, NULL);
    }
    return true;
}

void vulkan_set_free(const struct vulkan *v, struct vulkan_set *s)
{
    if (s->layout != VK_NULL_HANDLE)
        v->DestroyPipelineLayout(v->device, s->layout, NULL);
    if (s->pool != VK_NULL_HANDLE)
        v->DestroyDescriptorPool(v->device, s->pool, NULL);
    if (s->set_layout != VK_NULL_HANDLE)
        v->DestroyDescriptorSetLayout(v->device, s->set_layout, NULL);
    *s = (struct vulkan_set){0};
}

/* The shader module. NULL after an error. */
static VkShaderModule module_of(const struct vulkan *v, const struct glsl *shader)
{
    VkShaderModule module = VK_NULL_HANDLE;
    const size_t size = (size_t)(shader->spirv_end - shader->spirv);
    if (size == 0) {
        fprintf(stderr,
                "The shader %s was not built for Vulkan: glslangValidator was missing at configure "
                "time.\nInstall it (Debian package glslang-tools), configure and build again.\n",
                shader->file);
        return VK_NULL_HANDLE;
    }
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = size,
                                           .pCode = (const uint32_t *)(const void *)shader->spirv};
    vulkan_ok(v->CreateShaderModule(v->device, &info, NULL, &module), "load a shader");
    return module;
}

static VkPipelineShaderStageCreateInfo stage_of(VkShaderStageFlagBits stage, VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = stage,
        .module = module,
        .pName = "main"};
}

static VkPipeline pipeline_of(const struct vulkan *v, const struct vulkan_pipeline_info *info,
                              const VkPipelineShaderStageCreateInfo stages[2])
{
    const VkPipelineVertexInputStateCreateInfo no_vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = info->depth,
        .depthWriteEnable = info->depth,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendAttachmentState colours = {
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &colours};
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states};
    const VkGraphicsPipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = info->vertices ? info->vertices : &no_vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = info->layout,
        .renderPass = info->pass,
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    vulkan_ok(v->CreateGraphicsPipelines(v->device, VK_NULL_HANDLE, 1, &create, NULL, &pipeline),
              "make a pipeline");
    return pipeline;
}

VkPipeline vulkan_graphics_pipeline(const struct vulkan *v, const struct vulkan_pipeline_info *info)
{
    const VkShaderModule vertex = module_of(v, info->vertex);
    const VkShaderModule fragment =
        vertex != VK_NULL_HANDLE ? module_of(v, info->fragment) : VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (fragment != VK_NULL_HANDLE) {
        const VkPipelineShaderStageCreateInfo stages[2] = {
            stage_of(VK_SHADER_STAGE_VERTEX_BIT, vertex),
            stage_of(VK_SHADER_STAGE_FRAGMENT_BIT, fragment)};
        pipeline = pipeline_of(v, info, stages);
    }
    v->DestroyShaderModule(v->device, vertex, NULL);
    v->DestroyShaderModule(v->device, fragment, NULL);
    return pipeline;
}

VkPipeline vulkan_compute_pipeline(const struct vulkan *v, const struct glsl *shader,
                                   VkPipelineLayout layout)
{
    const VkShaderModule module = module_of(v, shader);
    if (module == VK_NULL_HANDLE)
        return VK_NULL_HANDLE;
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage_of(VK_SHADER_STAGE_COMPUTE_BIT, module),
        .layout = layout};
    VkPipeline pipeline = VK_NULL_HANDLE;
    vulkan_ok(v->CreateComputePipelines(v->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
              "make a pipeline");
    v->DestroyShaderModule(v->device, module, NULL);
    return pipeline;
}

VkSampler vulkan_sampler(const struct vulkan *v, VkFilter filter)
{
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = filter,
        .minFilter = filter,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    VkSampler sampler = VK_NULL_HANDLE;
    vulkan_ok(v->CreateSampler(v->device, &info, NULL, &sampler), "make a sampler");
    return sampler;
}
