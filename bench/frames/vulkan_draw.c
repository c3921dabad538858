/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan rendering: a target, and a pipeline that draws the points or the picture as OpenGL does.
 */
#include "bench/frames/vulkan.h"

extern const struct glsl mesh_vert, mesh_frag, picture_vert, picture_frag;

static bool make_pass(VkFormat format, VkRenderPass *pass)
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
    return VK(CreateRenderPass, bench_vk.on.device, &info, NULL, pass);
}

static VkShaderModule module_of(const struct glsl *shader)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = (size_t)(shader->spirv_end - shader->spirv),
                                           .pCode = (const uint32_t *)(const void *)shader->spirv};
    VkShaderModule module = VK_NULL_HANDLE;
    if (info.codeSize == 0)
        bench_failed("the program was built without glslangValidator");
    else
        VK(CreateShaderModule, bench_vk.on.device, &info, NULL, &module);
    return module;
}

/*
 * Makes the pipeline. Clip space is flipped, so that rows are stored in the same order as in
 * OpenGL.
 */
static bool make_pipeline(struct frames_vulkan_draw *d,
                          const VkPipelineShaderStageCreateInfo stages[2])
{
    const VkExtent2D size = d->area.extent;
    const VkViewport view = {0, 0, (float)size.width, (float)size.height, 0, 1};
    const VkVertexInputBindingDescription binding = {.stride = 16};
    const VkVertexInputAttributeDescription attribute = {.format = VK_FORMAT_R32G32B32A32_SFLOAT};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = d->points,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = d->points,
        .pVertexAttributeDescriptions = &attribute};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology =
            d->points ? VK_PRIMITIVE_TOPOLOGY_POINT_LIST : VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
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
    return VK(CreateGraphicsPipelines, bench_vk.on.device, VK_NULL_HANDLE, 1, &info, NULL,
              &d->pipeline);
}

static bool open_pipeline(struct frames_vulkan_draw *d)
{
    const VkPushConstantRange phase = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .pushConstantRangeCount = !d->points,
                                               .pPushConstantRanges = &phase};
    if (!VK(CreatePipelineLayout, bench_vk.on.device, &layout, NULL, &d->layout))
        return false;
    VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = module_of(d->points ? &mesh_vert : &picture_vert),
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module_of(d->points ? &mesh_frag : &picture_frag),
         .pName = "main"},
    };
    bool good = stages[0].module != VK_NULL_HANDLE && stages[1].module != VK_NULL_HANDLE &&
                make_pipeline(d, stages);
    bench_vk.DestroyShaderModule(bench_vk.on.device, stages[0].module, NULL);
    bench_vk.DestroyShaderModule(bench_vk.on.device, stages[1].module, NULL);
    return good;
}

bool frames_vulkan_draw_init(struct frames_vulkan_draw *d, bool points, int size)
{
    const uint32_t side = (uint32_t)size;
    const VkFormat format = points ? VK_FORMAT_R8G8B8A8_UNORM : VK_FORMAT_R32G32B32A32_SFLOAT;
    const VkImageCreateInfo image = bench_vk_image_info(
        format, side, side, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    d->points = points;
    d->area = (VkRect2D){.extent = {side, side}};
    if (!bench_vk_image(&d->image, &image, false) || !make_pass(format, &d->pass))
        return false;
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = d->pass,
                                          .attachmentCount = 1,
                                          .pAttachments = &d->image.view,
                                          .width = side,
                                          .height = side,
                                          .layers = 1};
    return VK(CreateFramebuffer, bench_vk.on.device, &info, NULL, &d->framebuffer) &&
           open_pipeline(d);
}

void frames_vulkan_draw_free(struct frames_vulkan_draw *d)
{
    if (d->pipeline != VK_NULL_HANDLE)
        bench_vk.DestroyPipeline(bench_vk.on.device, d->pipeline, NULL);
    if (d->layout != VK_NULL_HANDLE)
        bench_vk.DestroyPipelineLayout(bench_vk.on.device, d->layout, NULL);
    if (d->framebuffer != VK_NULL_HANDLE)
        bench_vk.DestroyFramebuffer(bench_vk.on.device, d->framebuffer, NULL);
    if (d->pass != VK_NULL_HANDLE)
        bench_vk.DestroyRenderPass(bench_vk.on.device, d->pass, NULL);
    bench_vk_free(&d->image);
    *d = (struct frames_vulkan_draw){.points = false};
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void begin(const struct frames_vulkan_draw *d, VkCommandBuffer commands)
{
    const VkClearValue black = {.color.float32 = {0, 0, 0, 1}};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = d->pass,
                                        .framebuffer = d->framebuffer,
                                        .renderArea = d->area,
                                        .clearValueCount = 1,
                                        .pClearValues = &black};
    bench_vk.CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    bench_vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->pipeline);
}

void frames_vulkan_draw_points(const struct frames_vulkan_draw *d, VkCommandBuffer commands,
                               VkBuffer vertices)
{
    const VkDeviceSize start = 0;
    begin(d, commands);
    bench_vk.CmdBindVertexBuffers(commands, 0, 1, &vertices, &start);
    bench_vk.CmdDraw(commands, (uint32_t)(scene.mesh * scene.mesh), 1, 0, 0);
    bench_vk.CmdEndRenderPass(commands);
}

void frames_vulkan_draw_picture(const struct frames_vulkan_draw *d, VkCommandBuffer commands,
                                float phase, VkBuffer into)
{
    const VkExtent2D size = d->area.extent;
    const VkBufferImageCopy whole = {.imageSubresource = BENCH_VK_COLOUR,
                                     .imageExtent = {size.width, size.height, 1}};
    begin(d, commands);
    bench_vk.CmdPushConstants(commands, d->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(phase),
                              &phase);
    bench_vk.CmdDraw(commands, 3, 1, 0, 0);
    bench_vk.CmdEndRenderPass(commands);
    bench_vk.CmdCopyImageToBuffer(commands, d->image.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                  into, 1, &whole);
}
