/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An offscreen render target in Vulkan. */
#include "vulkan_target.h"

#include <stdio.h>

enum { COLOUR, DEPTH, ATTACHMENTS };

static bool make_pass(const struct vulkan *v, VkRenderPass *pass)
{
    const VkAttachmentDescription attachments[ATTACHMENTS] = {
        [COLOUR] = {.format = VK_FORMAT_R8G8B8A8_UNORM,
                    .samples = VK_SAMPLE_COUNT_1_BIT,
                    .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                    .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                    .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL},
        [DEPTH] = {.format = VK_FORMAT_D32_SFLOAT,
                   .samples = VK_SAMPLE_COUNT_1_BIT,
                   .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                   .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                   .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                   .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
                   .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL},
    };
    const VkAttachmentReference colour = {COLOUR, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference depth = {DEPTH, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                          .colorAttachmentCount = 1,
                                          .pColorAttachments = &colour,
                                          .pDepthStencilAttachment = &depth};
    const VkPipelineStageFlags drawing = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                                         VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                         VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags written = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
                                  VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                  VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    /*
     * Orders this frame after the drawing and the copy of the previous frame, and the copy after
     * the drawing of this frame.
     */
    const VkSubpassDependency order[2] = {
        {VK_SUBPASS_EXTERNAL, 0, drawing | VK_PIPELINE_STAGE_TRANSFER_BIT, drawing,
         VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT, written, 0},
        {0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         VK_ACCESS_TRANSFER_READ_BIT, 0},
    };
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = ATTACHMENTS,
                                         .pAttachments = attachments,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass,
                                         .dependencyCount = 2,
                                         .pDependencies = order};
    return vulkan_ok(v->CreateRenderPass(v->device, &info, NULL, pass), "describe the drawing");
}

static bool fits(const struct vulkan *v, int width, int height)
{
    VkPhysicalDeviceProperties properties;
    v->GetPhysicalDeviceProperties(v->physical_device, &properties);
    const VkPhysicalDeviceLimits *limits = &properties.limits;
    if ((uint32_t)width <= limits->maxFramebufferWidth &&
        (uint32_t)height <= limits->maxFramebufferHeight &&
        (uint32_t)width <= limits->maxImageDimension2D &&
        (uint32_t)height <= limits->maxImageDimension2D)
        return true;
    fprintf(stderr, "Vulkan cannot draw a picture of %dx%d pixels: choose a smaller --size.\n",
            width, height);
    return false;
}

bool vulkan_target_init(const struct vulkan *v, int width, int height, struct vulkan_target *t)
{
    *t = (struct vulkan_target){.width = width, .height = height};
    const VkDeviceSize size = 4 * (VkDeviceSize)width * (VkDeviceSize)height;
    if (!fits(v, width, height) ||
        !vulkan_image_init(v, VK_FORMAT_R8G8B8A8_UNORM, width, height,
                           VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                           &t->colour) ||
        !vulkan_image_init(v, VK_FORMAT_D32_SFLOAT, width, height,
                           VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, &t->depth) ||
        !vulkan_buffer_init(v, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &t->pixels) ||
        !make_pass(v, &t->pass))
        return false;
    const VkImageView views[ATTACHMENTS] = {t->colour.view, t->depth.view};
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = t->pass,
                                          .attachmentCount = ATTACHMENTS,
                                          .pAttachments = views,
                                          .width = (uint32_t)width,
                                          .height = (uint32_t)height,
                                          .layers = 1};
    return vulkan_ok(v->CreateFramebuffer(v->device, &info, NULL, &t->framebuffer),
                     "make a framebuffer");
}

void vulkan_target_free(const struct vulkan *v, struct vulkan_target *t)
{
    if (t->framebuffer != VK_NULL_HANDLE)
        v->DestroyFramebuffer(v->device, t->framebuffer, NULL);
    if (t->pass != VK_NULL_HANDLE)
        v->DestroyRenderPass(v->device, t->pass, NULL);
    vulkan_buffer_free(v, &t->pixels);
    vulkan_image_free(v, &t->depth);
    vulkan_image_free(v, &t->colour);
}

void vulkan_target_begin(const struct vulkan *v, const struct vulkan_target *t,
                         VkCommandBuffer commands)
{
    const VkRect2D all = {.extent = {(uint32_t)t->width, (uint32_t)t->height}};
    const VkClearValue values[ATTACHMENTS] = {[DEPTH] = {.depthStencil = {.depth = 1.0f}}};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = t->pass,
                                        .framebuffer = t->framebuffer,
                                        .renderArea = all,
                                        .clearValueCount = ATTACHMENTS,
                                        .pClearValues = values};
    const float width = (float)t->width, height = (float)t->height;
    const VkViewport upwards = {0.0f, height, width, -height, 0.0f, 1.0f};
    v->CmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    v->CmdSetViewport(commands, 0, 1, &upwards);
    v->CmdSetScissor(commands, 0, 1, &all);
}

void vulkan_target_end(const struct vulkan *v, const struct vulkan_target *t,
                       VkCommandBuffer commands)
{
    const VkBufferImageCopy all = {.imageSubresource = vulkan_colour_layer(),
                                   .imageExtent = {(uint32_t)t->width, (uint32_t)t->height, 1}};
    v->CmdEndRenderPass(commands);
    v->CmdCopyImageToBuffer(commands, t->colour.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                            t->pixels.buffer, 1, &all);
    vulkan_show_host(v, commands);
}
