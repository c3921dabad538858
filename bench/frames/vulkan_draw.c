/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan rendering: a target, and a pipeline that draws the points as OpenGL does. */
#include "bench/frames/frames.h"

extern const struct glsl mesh_vert, mesh_frag;

static const VkFormat FORMAT = VK_FORMAT_R8G8B8A8_UNORM;

static VkRenderPass make_pass(void)
{
    const VkAttachmentDescription colour = {.format = FORMAT,
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
    VkRenderPass pass;
    VK_KEEP(RenderPass, &info, &pass);
    return pass;
}

static VkShaderModule module_of(const struct glsl *shader)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = (size_t)(shader->spirv_end - shader->spirv),
                                           .pCode = (const uint32_t *)(const void *)shader->spirv};
    VkShaderModule module;
    if (info.codeSize == 0)
        bench_fail("the program was built without glslangValidator");
    VK_KEEP(ShaderModule, &info, &module);
    return module;
}

static void end_pipeline(void *pipeline)
{
    bench_vk.DestroyPipeline(bench_vk.on.device, pipeline, NULL);
}

/*
 * Makes the pipeline. Clip space is flipped, so that rows are stored in the same order as in
 * OpenGL.
 */
static void make_pipeline(struct frames_vulkan_draw *d)
{
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    VkPipelineLayout made;
    const VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = module_of(&mesh_vert),
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module_of(&mesh_frag),
         .pName = "main"},
    };
    const VkExtent2D size = d->area.extent;
    const VkViewport view = {0, 0, (float)size.width, (float)size.height, 0, 1};
    const VkVertexInputBindingDescription binding = {.stride = 16};
    const VkVertexInputAttributeDescription attribute = {.format = VK_FORMAT_R32G32B32A32_SFLOAT};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 1,
        .pVertexAttributeDescriptions = &attribute};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &view,
        .scissorCount = 1,
        .pScissors = &d->area};
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
    VK_KEEP(PipelineLayout, &layout, &made);
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
                                               .layout = made,
                                               .renderPass = d->pass};
    VK(CreateGraphicsPipelines, bench_vk.on.device, VK_NULL_HANDLE, 1, &info, NULL, &d->pipeline);
    bench_later(end_pipeline, d->pipeline);
}

void frames_vulkan_draw_init(struct frames_vulkan_draw *d)
{
    const uint32_t side = FRAMES_TARGET;
    const VkImageCreateInfo image = bench_vk_image_info(
        FORMAT, side, side, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    d->area = (VkRect2D){.extent = {side, side}};
    d->image = bench_vk_image(&image, false);
    d->pass = make_pass();
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = d->pass,
                                          .attachmentCount = 1,
                                          .pAttachments = &d->image.view,
                                          .width = side,
                                          .height = side,
                                          .layers = 1};
    VK_KEEP(Framebuffer, &info, &d->framebuffer);
    make_pipeline(d);
}

/* ---- Commands -------------------------------------------------------------------------------- */

void frames_vulkan_draw_points(const struct frames_vulkan_draw *d, VkCommandBuffer commands,
                               VkBuffer vertices)
{
    const VkDeviceSize start = 0;
    const VkClearValue black = {.color.float32 = {0, 0, 0, 1}};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = d->pass,
                                        .framebuffer = d->framebuffer,
                                        .renderArea = d->area,
                                        .clearValueCount = 1,
                                        .pClearValues = &black};
    bench_vk.CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    bench_vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->pipeline);
    bench_vk.CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    bench_vk.CmdDraw(commands, (uint32_t)(scene.mesh * scene.mesh), 1, 0, 0);
    bench_vk.CmdEndRenderPass(commands);
}
