/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of a window.
 */
#include "viewer_swapchain.h"

#include <stdio.h>

static bool find_functions(struct viewer_swapchain *s)
{
    const char *missing = NULL;
#define VIEWER_FIND(name)                                                                          \
    s->name = (PFN_vk##name)viewer_device_function(s->device, "vk" #name);                         \
    if (!s->name)                                                                                  \
        missing = "vk" #name;
    VIEWER_SWAPCHAIN_FUNCTIONS(VIEWER_FIND)
#undef VIEWER_FIND
    if (missing)
        fprintf(stderr, "This Vulkan has no %s.\n", missing);
    return !missing;
}

static bool make_semaphore(const struct viewer_swapchain *s, VkSemaphore *semaphore)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    return vulkan_ok(s->CreateSemaphore(s->vulkan->device, &info, NULL, semaphore),
                     "make a semaphore");
}

bool viewer_swapchain_init(struct viewer_swapchain *s, const struct viewer_device *device,
                           const struct vulkan *vulkan)
{
    *s = (struct viewer_swapchain){.device = device, .vulkan = vulkan};
    if (!find_functions(s) || !make_semaphore(s, &s->taken))
        return false;
    for (int i = 0; i < VIEWER_MOST_IMAGES; i++)
        if (!make_semaphore(s, &s->drawn[i]))
            return false;
    return true;
}

void viewer_swapchain_free(struct viewer_swapchain *s)
{
    if (!s->vulkan || !s->QueueWaitIdle)
        return;
    s->QueueWaitIdle(s->vulkan->queue);
    s->DestroySwapchainKHR(s->vulkan->device, s->chain, NULL);
    s->DestroySemaphore(s->vulkan->device, s->taken, NULL);
    for (int i = 0; i < VIEWER_MOST_IMAGES; i++)
        s->DestroySemaphore(s->vulkan->device, s->drawn[i], NULL);
}

/* One that keeps the bytes as they are, or else what there is. */
static VkSurfaceFormatKHR choose_format(const struct viewer_swapchain *s)
{
    enum { MOST_FORMATS = 64 };
    VkSurfaceFormatKHR formats[MOST_FORMATS] = {{0}};
    uint32_t count = MOST_FORMATS;
    s->GetPhysicalDeviceSurfaceFormatsKHR(s->vulkan->physical_device, s->device->surface, &count,
                                          formats);
    for (uint32_t i = 0; i < count; i++)
        if (formats[i].format == VK_FORMAT_B8G8R8A8_UNORM ||
            formats[i].format == VK_FORMAT_R8G8B8A8_UNORM)
            return formats[i];
    return formats[0];
}

static bool make_chain(struct viewer_swapchain *s, int width, int height)
{
    const struct vulkan *v = s->vulkan;
    VkSurfaceCapabilitiesKHR can;
    if (!vulkan_ok(s->GetPhysicalDeviceSurfaceCapabilitiesKHR(v->physical_device,
                                                              s->device->surface, &can),
                   "ask for the window's size"))
        return false;
    const VkSurfaceFormatKHR format = choose_format(s);
    const VkSwapchainKHR old = s->chain;
    s->extent = can.currentExtent;
    if (s->extent.width == UINT32_MAX)
        s->extent = (VkExtent2D){(uint32_t)width, (uint32_t)height};
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = s->device->surface,
                                           .minImageCount = can.minImageCount,
                                           .imageFormat = format.format,
                                           .imageColorSpace = format.colorSpace,
                                           .imageExtent = s->extent,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = can.currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                           .clipped = VK_TRUE,
                                           .oldSwapchain = old};
    s->QueueWaitIdle(v->queue);
    s->chain = VK_NULL_HANDLE;
    const VkResult made = s->CreateSwapchainKHR(v->device, &info, NULL, &s->chain);
    s->DestroySwapchainKHR(v->device, old, NULL);
    s->count = VIEWER_MOST_IMAGES;
    return vulkan_ok(made, "make the window's images") &&
           vulkan_ok(s->GetSwapchainImagesKHR(v->device, s->chain, &s->count, s->images),
                     "find the window's images");
}

bool viewer_swapchain_take(struct viewer_swapchain *s, int width, int height)
{
    const uint64_t long_enough = UINT64_C(60000000000);
    bool fits =
        s->chain && s->extent.width == (uint32_t)width && s->extent.height == (uint32_t)height;
    for (int tries = 0; tries < 10; tries++) {
        if (!fits && !make_chain(s, width, height))
            return false;
        const VkResult result = s->AcquireNextImageKHR(s->vulkan->device, s->chain, long_enough,
                                                       s->taken, VK_NULL_HANDLE, &s->next);
        if (result == VK_SUBOPTIMAL_KHR)
            return true;
        if (result != VK_ERROR_OUT_OF_DATE_KHR)
            return vulkan_ok(result, "take the window's next image");
        fits = false;
    }
    fprintf(stderr, "The window changes faster than its images can be made.\n");
    return false;
}

void viewer_swapchain_record(const struct viewer_swapchain *s, const struct vulkan_target *target,
                             VkCommandBuffer commands)
{
    const struct vulkan *v = s->vulkan;
    const VkImage image = s->images[s->next];
    const VkImageBlit all = {
        .srcSubresource = vulkan_colour_layer(),
        .srcOffsets = {{0}, {target->width, target->height, 1}},
        .dstSubresource = vulkan_colour_layer(),
        .dstOffsets = {{0}, {(int32_t)s->extent.width, (int32_t)s->extent.height, 1}}};
    vulkan_change_layout(v, commands, image, VK_IMAGE_LAYOUT_UNDEFINED,
                         VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    v->CmdBlitImage(commands, target->colour.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, image,
                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &all, VK_FILTER_NEAREST);
    vulkan_change_layout(v, commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
}

bool viewer_swapchain_show(struct viewer_swapchain *s)
{
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &s->drawn[s->next],
                                   .swapchainCount = 1,
                                   .pSwapchains = &s->chain,
                                   .pImageIndices = &s->next};
    const VkResult result = s->QueuePresentKHR(s->vulkan->queue, &info);
    /* Then the next take makes the images anew. */
    if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) {
        s->extent = (VkExtent2D){0};
        return true;
    }
    return vulkan_ok(result, "show a frame");
}
