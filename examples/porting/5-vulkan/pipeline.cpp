/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The shaders, their descriptors, and the render target. */
#include "pipeline.h"

#include "ripples.frag.inc"
#include "ripples.vert.inc"

static VkPipeline pipeline;
static VkPipelineLayout layout;
static VkDescriptorSetLayout setLayout;
static VkDescriptorSet set;

static VkSampler createSampler()
{
    const VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                      .magFilter = VK_FILTER_LINEAR,
                                      .minFilter = VK_FILTER_LINEAR,
                                      .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                      .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                      .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
    VkSampler sampler;
    checkVulkan(vkCreateSampler(vk.device, &info, nullptr, &sampler));
    atEnd([=] { vkDestroySampler(vk.device, sampler, nullptr); });
    return sampler;
}

static void createSet(VkImageView texture)
{
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    checkVulkan(vkCreateDescriptorSetLayout(vk.device, &info, nullptr, &setLayout));
    atEnd([] { vkDestroyDescriptorSetLayout(vk.device, setLayout, nullptr); });

    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
    const VkDescriptorPoolCreateInfo poolInfo = {.sType =
                                                     VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                 .maxSets = 1,
                                                 .poolSizeCount = 1,
                                                 .pPoolSizes = &size};
    VkDescriptorPool pool;
    checkVulkan(vkCreateDescriptorPool(vk.device, &poolInfo, nullptr, &pool));
    atEnd([=] { vkDestroyDescriptorPool(vk.device, pool, nullptr); });

    const VkDescriptorSetAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &setLayout};
    checkVulkan(vkAllocateDescriptorSets(vk.device, &one, &set));
    const VkDescriptorImageInfo image = {createSampler(), texture,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                        .pImageInfo = &image};
    vkUpdateDescriptorSets(vk.device, 1, &write, 0, nullptr);
}

static void createLayout()
{
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &setLayout};
    checkVulkan(vkCreatePipelineLayout(vk.device, &info, nullptr, &layout));
    atEnd([] { vkDestroyPipelineLayout(vk.device, layout, nullptr); });
}

static VkPipelineShaderStageCreateInfo load(VkShaderStageFlagBits stage, const uint32_t *code,
                                            size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;
    checkVulkan(vkCreateShaderModule(vk.device, &info, nullptr, &module));
    atEnd([=] { vkDestroyShaderModule(vk.device, module, nullptr); });
    return {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = stage,
            .module = module,
            .pName = "main"};
}

void createPipeline(VkImageView texture)
{
    createSet(texture);
    createLayout();
    const VkPipelineShaderStageCreateInfo stages[] = {
        load(VK_SHADER_STAGE_VERTEX_BIT, ripples_vert, sizeof(ripples_vert)),
        load(VK_SHADER_STAGE_FRAGMENT_BIT, ripples_frag, sizeof(ripples_frag))};
    const VkVertexInputBindingDescription binding = {0, 4 * sizeof(float),
                                                     VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription position = {0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, 0};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 1,
        .pVertexAttributeDescriptions = &position};
    const VkPipelineInputAssemblyStateCreateInfo triangles = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo one = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState all = {
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &all};
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states};
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkPipelineRenderingCreateInfo target = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &target,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &vertices,
                                               .pInputAssemblyState = &triangles,
                                               .pViewportState = &one,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .pDynamicState = &dynamic,
                                               .layout = layout};
    checkVulkan(vkCreateGraphicsPipelines(vk.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
    atEnd([] { vkDestroyPipeline(vk.device, pipeline, nullptr); });
}

void beginDrawing(VkCommandBuffer commands, const Image &texture, const Image &target,
                  uint32_t side)
{
    const VkRenderingAttachmentInfo colours = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target.view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .clearValue = {.color = {.float32 = {0.07f, 0.08f, 0.1f, 1.0f}}}};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea = {.extent = {side, side}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &colours};
    /* The picture is flipped, since the first row in OpenGL is the bottom row. */
    const float size = float(side);
    const VkViewport viewport = {0.0f, size, size, -size, 0.0f, 1.0f};
    changeLayout(commands, texture.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                 VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    changeLayout(commands, target.image, VK_IMAGE_LAYOUT_UNDEFINED,
                 VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    vkCmdBeginRendering(commands, &info);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &info.renderArea);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0,
                            nullptr);
}

void endDrawing(VkCommandBuffer commands, const Image &target)
{
    vkCmdEndRendering(commands);
    changeLayout(commands, target.image, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                 VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
}
