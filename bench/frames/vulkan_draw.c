/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan rendering: a target, and a pipeline that draws the points or the picture as OpenGL does.
 */
#include "bench/frames/vulkan.h"

#include <stdio.h>

static bool make_pass(const struct vulkan *v, VkFormat format, VkRenderPass *pass)
{
    const VkAttachmentDescription colour = {.format = format,
                                            .samples = VK_SAMPLE_COUNT_1_BIT,
                                            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                            .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkPipelineStageFlags drawing = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT;
    const VkAccessFlags written = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    /* Orders this frame after the previous frame, and the copy after the drawing of this frame. */
    const VkSubpassDependency order[2] = {
        {VK_SUBPASS_EXTERNAL, 0, drawing | VK_PIPELINE_STAGE_TRANSFER_BIT, drawing, written,
         written, 0},
        {0, VK_SUBPASS_EXTERNAL, drawing, VK_PIPELINE_STAGE_TRANSFER_BIT, written,
         VK_ACCESS_TRANSFER_READ_BIT, 0},
    };
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &colour,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 2,
                                         .pDependencies = order};
    return vulkan_ok(v->CreateRenderPass(v->device, &info, NULL, pass), "describe the drawing");
}

static VkShaderModule module_of(const struct vulkan *v, const struct glsl *shader)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = (size_t)(shader->spirv_end - shader->spirv),
                                           .pCode = (const uint32_t *)(const void *)shader->spirv};
    VkShaderModule module = VK_NULL_HANDLE;
    if (info.codeSize == 0)
        fprintf(stderr, "bench_frames was built without glslangValidator\n");
    else
        vulkan_ok(v->CreateShaderModule(v->device, &info, NULL, &module), "load a shader");
    return module;
}

static VkRect2D all_of(int size)
{
    return (VkRect2D){.extent = {(uint32_t)size, (uint32_t)size}};
}

/*
 * Makes the pipeline. Clip space is flipped, so that rows are stored in the same order as in
 * OpenGL.
 */
static bool make_pipeline(const struct vulkan *v, const struct frames_vulkan_plan *plan,
                          struct frames_vulkan_draw *d,
                          const VkPipelineShaderStageCreateInfo stages[2])
{
    const float size = (float)plan->size;
    const VkViewport view = {0, 0, size, size, 0, 1};
    const VkRect2D all = all_of(plan->size);
    const VkVertexInputBindingDescription binding = {.stride = 16};
    const VkVertexInputAttributeDescription attribute = {.format = VK_FORMAT_R32G32B32A32_SFLOAT};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = plan->points,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = plan->points,
        .pVertexAttributeDescriptions = &attribute};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology =
            plan->points ? VK_PRIMITIVE_TOPOLOGY_POINT_LIST : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &view,
        .scissorCount = 1,
        .pScissors = &all};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState colours = {.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &colours};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &vertices,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &viewport,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .layout = d->layout,
                                               .renderPass = d->pass};
    return vulkan_ok(
        v->CreateGraphicsPipelines(v->device, VK_NULL_HANDLE, 1, &info, NULL, &d->pipeline),
        "make a pipeline");
}

static bool open_pipeline(const struct vulkan *v, const struct frames_vulkan_plan *plan,
                          struct frames_vulkan_draw *d)
{
    const VkPushConstantRange phase = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = !plan->points,
                                               .pPushConstantRanges = &phase};
    if (!vulkan_ok(v->CreatePipelineLayout(v->device, &layout, NULL, &d->layout), "make a layout"))
        return false;
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = module_of(v, plan->vert),
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module_of(v, plan->frag),
         .pName = "main"},
    };
    bool good = stages[0].module != VK_NULL_HANDLE && stages[1].module != VK_NULL_HANDLE &&
                make_pipeline(v, plan, d, stages);
    v->DestroyShaderModule(v->device, stages[0].module, NULL);
    v->DestroyShaderModule(v->device, stages[1].module, NULL);
    return good;
}

bool frames_vulkan_draw_init(const struct vulkan *v, const struct frames_vulkan_plan *plan,
                             struct frames_vulkan_draw *d)
{
    const uint32_t size = (uint32_t)plan->size;
    d->size = plan->size;
    if (!vulkan_image_init(v, plan->format, plan->size, plan->size,
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                           &d->image) ||
        !make_pass(v, plan->format, &d->pass))
        return false;
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = d->pass,
                                          .attachmentCount = 1,
                                          .pAttachments = &d->image.view,
                                          .width = size,
                                          .height = size,
                                          .layers = 1};
    return vulkan_ok(v->CreateFramebuffer(v->device, &info, NULL, &d->framebuffer),
                     "make a framebuffer") &&
           open_pipeline(v, plan, d);
}

void frames_vulkan_draw_free(const struct vulkan *v, struct frames_vulkan_draw *d)
{
    if (d->pipeline != VK_NULL_HANDLE)
        v->DestroyPipeline(v->device, d->pipeline, NULL);
    if (d->layout != VK_NULL_HANDLE)
        v->DestroyPipelineLayout(v->device, d->layout, NULL);
    if (d->framebuffer != VK_NULL_HANDLE)
        v->DestroyFramebuffer(v->device, d->framebuffer, NULL);
    if (d->pass != VK_NULL_HANDLE)
        v->DestroyRenderPass(v->device, d->pass, NULL);
    vulkan_image_free(v, &d->image);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void begin(const struct vulkan *v, const struct frames_vulkan_draw *d,
                  VkCommandBuffer commands)
{
    const VkClearValue black = {.color.float32 = {0, 0, 0, 1}};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = d->pass,
                                        .framebuffer = d->framebuffer,
                                        .renderArea = all_of(d->size),
                                        .clearValueCount = 1,
                                        .pClearValues = &black};
    v->CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    v->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->pipeline);
}

void frames_vulkan_draw_points(const struct vulkan *v, const struct frames_vulkan_draw *d,
                               VkCommandBuffer commands, VkBuffer vertices, uint32_t count)
{
    const VkDeviceSize start = 0;
    begin(v, d, commands);
    v->CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    v->CmdDraw(commands, count, 1, 0, 0);
    v->CmdEndRenderPass(commands);
}

void frames_vulkan_draw_picture(const struct vulkan *v, const struct frames_vulkan_draw *d,
                                VkCommandBuffer commands, float phase, VkBuffer into)
{
    const VkRect2D all = all_of(d->size);
    const VkBufferImageCopy whole = {.imageSubresource = vulkan_colour_layer(),
                                     .imageExtent = {all.extent.width, all.extent.height, 1}};
    begin(v, d, commands);
    v->CmdPushConstants(commands, d->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(phase),
                        &phase);
    v->CmdDraw(commands, 3, 1, 0, 0);
    v->CmdEndRenderPass(commands);
    v->CmdCopyImageToBuffer(commands, d->image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, into, 1,
                            &whole);
}
