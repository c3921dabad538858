/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Turns a shared image into a tile of the picture of pingpong. */
#include "pingpong_draw.h"

#include "examples/support/cover.h"

GLSL(pingpong, frag);
GLSL(pingpong, comp);

static bool make_pass(struct pingpong_vk *p)
{
    const VkAttachmentDescription picture = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                                             .samples = VK_SAMPLE_COUNT_1_BIT,
                                             .loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                             .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference colour = {0, VK_IMAGE_LAYOUT_GENERAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &colour};
    const VkAccessFlags access =
        VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT;
    /* Orders the drawing of this frame after the drawing of the previous one. */
    const VkSubpassDependency order = {VK_SUBPASS_EXTERNAL,
                                       0,
                                       VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                       VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                       access,
                                       access,
                                       0};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &picture,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 1,
                                         .pDependencies = &order};
    const struct vulkan *v = &p->vulkan;
    if (!vulkan_ok(v->CreateRenderPass(v->device, &info, NULL, &p->pass), "describe the drawing"))
        return false;
    const VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                 .renderPass = p->pass,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &p->picture.view,
                                                 .width = (uint32_t)p->width,
                                                 .height = (uint32_t)p->height,
                                                 .layers = 1};
    return vulkan_ok(v->CreateFramebuffer(v->device, &framebuffer, NULL, &p->framebuffer),
                     "make a framebuffer");
}

static bool make_sets(struct pingpong_vk *p)
{
    const struct vulkan *v = &p->vulkan;
    const bool compute = p->queue == VULKAN_COMPUTE;
    const VkShaderStageFlags stage =
        compute ? VK_SHADER_STAGE_COMPUTE_BIT : VK_SHADER_STAGE_FRAGMENT_BIT;
    p->sampler = vulkan_sampler(v, VK_FILTER_NEAREST);
    for (int i = 0; i < 2; i++) {
        p->views[i] = vulkan_view(v, gr_vk_image(p->images[i]), VK_FORMAT_R8G8B8A8_UNORM);
        const struct vulkan_binding bindings[2] = {
            {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
             .stages = stage,
             .view = p->views[i],
             .layout = VK_IMAGE_LAYOUT_GENERAL,
             .sampler = p->sampler},
            {.type = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
             .stages = stage,
             .view = p->picture.view,
             .layout = VK_IMAGE_LAYOUT_GENERAL},
        };
        if (p->sampler == VK_NULL_HANDLE || p->views[i] == VK_NULL_HANDLE ||
            !vulkan_set_init(v, bindings, compute ? 2 : 1, sizeof(VkOffset2D), &p->sets[i]))
            return false;
    }
    return true;
}

bool pingpong_draw_init(struct pingpong_vk *p)
{
    if (p->queue == VULKAN_TRANSFER)
        return true;
    if (!make_sets(p))
        return false;
    if (p->queue == VULKAN_COMPUTE) {
        p->pipeline = vulkan_compute_pipeline(&p->vulkan, &pingpong_comp, p->sets[0].layout);
        return p->pipeline != VK_NULL_HANDLE;
    }
    if (!make_pass(p))
        return false;
    const struct vulkan_pipeline_info info = {.vertex = &cover_vert,
                                              .fragment = &pingpong_frag,
                                              .layout = p->sets[0].layout,
                                              .pass = p->pass};
    p->pipeline = vulkan_graphics_pipeline(&p->vulkan, &info);
    return p->pipeline != VK_NULL_HANDLE;
}

void pingpong_draw_free(struct pingpong_vk *p)
{
    const struct vulkan *v = &p->vulkan;
    v->DestroyPipeline(v->device, p->pipeline, NULL);
    v->DestroyFramebuffer(v->device, p->framebuffer, NULL);
    v->DestroyRenderPass(v->device, p->pass, NULL);
    for (int i = 0; i < 2; i++) {
        vulkan_set_free(v, &p->sets[i]);
        v->DestroyImageView(v->device, p->views[i], NULL);
    }
    v->DestroySampler(v->device, p->sampler, NULL);
}

static void draw(const struct pingpong_vk *p, VkCommandBuffer commands, VkOffset2D at)
{
    const struct vulkan *v = &p->vulkan;
    const VkRect2D area = {at, {TILE_WIDTH, TILE_HEIGHT}};
    const VkViewport viewport = {(float)at.x, (float)at.y, TILE_WIDTH, TILE_HEIGHT, 0.0f, 1.0f};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = p->pass,
                                        .framebuffer = p->framebuffer,
                                        .renderArea = area};
    v->CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    v->CmdSetViewport(commands, 0, 1, &viewport);
    v->CmdSetScissor(commands, 0, 1, &area);
    v->CmdDraw(commands, 3, 1, 0, 0);
    v->CmdEndRenderPass(commands);
}

static void copy(const struct pingpong_vk *p, VkCommandBuffer commands, VkImage image,
                 VkOffset2D at)
{
    const VkImageCopy tile = {.srcSubresource = vulkan_colour_layer(),
                              .dstSubresource = vulkan_colour_layer(),
                              .dstOffset = {at.x, at.y, 0},
                              .extent = {TILE_WIDTH, TILE_HEIGHT, 1}};
    p->vulkan.CmdCopyImage(commands, image, VK_IMAGE_LAYOUT_GENERAL, p->picture.image,
                           VK_IMAGE_LAYOUT_GENERAL, 1, &tile);
}

void pingpong_draw_record(const struct pingpong_vk *p, VkCommandBuffer commands, int tile)
{
    const struct vulkan *v = &p->vulkan;
    const VkOffset2D at = pingpong_vk_place(tile);
    if (p->queue == VULKAN_TRANSFER) {
        copy(p, commands, gr_vk_image(p->images[tile % 2]), at);
        return;
    }
    const VkPipelineBindPoint point = p->queue == VULKAN_COMPUTE ? VK_PIPELINE_BIND_POINT_COMPUTE
                                                                 : VK_PIPELINE_BIND_POINT_GRAPHICS;
    const struct vulkan_set *set = &p->sets[tile % 2];
    v->CmdBindPipeline(commands, point, p->pipeline);
    v->CmdBindDescriptorSets(commands, point, set->layout, 0, 1, &set->set, 0, NULL);
    v->CmdPushConstants(commands, set->layout,
                        p->queue == VULKAN_COMPUTE ? VK_SHADER_STAGE_COMPUTE_BIT
                                                   : VK_SHADER_STAGE_FRAGMENT_BIT,
                        0, sizeof(at), &at);
    if (p->queue == VULKAN_GRAPHICS)
        draw(p, commands, at);
    else
        v->CmdDispatch(commands, (TILE_WIDTH + 7) / 8, (TILE_HEIGHT + 3) / 4, 1);
}
