/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The swapchain of a window. */
#include "viewer_swapchain.h"

#include <stdio.h>

static bool find_functions(struct viewer_swapchain *s)
{
    bool found = true;
#define VIEWER_FIND(name)                                                                          \
    found = VULKAN_FIND_ONE(s, name, viewer_device_function(s->device, "vk" #name)) && found;
    VIEWER_SWAPCHAIN_FUNCTIONS(VIEWER_FIND)
#undef VIEWER_FIND
    return found;
}

static bool make_semaphore(const struct viewer_swapchain *s, VkSemaphore *semaphore)
{
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    return vulkan_ok(s->CreateSemaphore(s->vulkan->device, &info, NULL, semaphore),
                     "make a semaphore");
}

bool viewer_swapchain_init(struct viewer_swapchain *s, const struct viewer_device *device,
                           const struct vulkan *vulkan, bool by_clock)
{
    *s = (struct viewer_swapchain){.device = device, .vulkan = vulkan, .by_clock = by_clock};
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

/* Chooses a format, preferably one that stores the bytes unchanged. */
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

/*
 * Chooses the mailbox mode if a clock paces the frames. FIFO, which every window supports, waits
 * for the screen. On Wayland, FIFO waits forever while the window is hidden.
 */
static VkPresentModeKHR choose_mode(const struct viewer_swapchain *s)
{
    enum { MOST_MODES = 16 };
    VkPresentModeKHR modes[MOST_MODES];
    uint32_t count = MOST_MODES;
    s->GetPhysicalDeviceSurfacePresentModesKHR(s->vulkan->physical_device, s->device->surface,
                                               &count, modes);
    for (uint32_t i = 0; s->by_clock && i < count; i++)
        if (modes[i] == VK_PRESENT_MODE_MAILBOX_KHR)
            return modes[i];
    return VK_PRESENT_MODE_FIFO_KHR;
}

static uint32_t between(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

/*
 * The size of the images. If the surface leaves the size to the swapchain, uses the requested size.
 */
static VkExtent2D choose_extent(const VkSurfaceCapabilitiesKHR *can, int width, int height)
{
    const VkExtent2D least = can->minImageExtent, most = can->maxImageExtent;
    if (can->currentExtent.width != UINT32_MAX)
        return can->currentExtent;
    return (VkExtent2D){between((uint32_t)width, least.width, most.width),
                        between((uint32_t)height, least.height, most.height)};
}

static bool find_images(struct viewer_swapchain *s)
{
    s->count = VIEWER_MOST_IMAGES;
    const VkResult found =
        s->GetSwapchainImagesKHR(s->vulkan->device, s->chain, &s->count, s->images);
    if (found == VK_INCOMPLETE)
        fprintf(stderr, "The window has more than %d images: raise VIEWER_MOST_IMAGES.\n",
                VIEWER_MOST_IMAGES);
    return found != VK_INCOMPLETE && vulkan_ok(found, "get the swapchain images");
}

static bool make_chain(struct viewer_swapchain *s, const VkSurfaceCapabilitiesKHR *can)
{
    const struct vulkan *v = s->vulkan;
    const VkSurfaceFormatKHR format = choose_format(s);
    const VkSwapchainKHR old = s->chain;
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = s->device->surface,
                                           .minImageCount = can->minImageCount,
                                           .imageFormat = format.format,
                                           .imageColorSpace = format.colorSpace,
                                           .imageExtent = s->extent,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = can->currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = choose_mode(s),
                                           .clipped = VK_TRUE,
                                           .oldSwapchain = old};
    s->QueueWaitIdle(v->queue);
    s->chain = VK_NULL_HANDLE;
    const VkResult made = s->CreateSwapchainKHR(v->device, &info, NULL, &s->chain);
    s->DestroySwapchainKHR(v->device, old, NULL);
    return viewer_device_presents(made, "create the swapchain") && find_images(s);
}

/* Recreates the images when the size of the window changes. */
static enum viewer_drawn fit_chain(struct viewer_swapchain *s, int width, int height)
{
    VkSurfaceCapabilitiesKHR can;
    if (s->chain && s->extent.width == (uint32_t)width && s->extent.height == (uint32_t)height)
        return VIEWER_SHOWN;
    if (!vulkan_ok(s->GetPhysicalDeviceSurfaceCapabilitiesKHR(s->vulkan->physical_device,
                                                              s->device->surface, &can),
                   "get the size of the window"))
        return VIEWER_FAILED;
    s->extent = choose_extent(&can, width, height);
    if (s->extent.width == 0 || s->extent.height == 0)
        return VIEWER_NOT_NOW;
    return make_chain(s, &can) ? VIEWER_SHOWN : VIEWER_FAILED;
}

enum viewer_drawn viewer_swapchain_acquire(struct viewer_swapchain *s, int width, int height)
{
    /*
     * The wait has a timeout, so that input is handled: a hidden window may have no image
     * available.
     */
    const uint64_t a_while = UINT64_C(100000000);
    for (int tries = 0; tries < 10; tries++) {
        const enum viewer_drawn fits = fit_chain(s, width, height);
        if (fits != VIEWER_SHOWN)
            return fits;
        const VkResult result = s->AcquireNextImageKHR(s->vulkan->device, s->chain, a_while,
                                                       s->taken, VK_NULL_HANDLE, &s->next);
        if (result == VK_TIMEOUT || result == VK_NOT_READY)
            return VIEWER_NOT_NOW;
        if (result == VK_SUBOPTIMAL_KHR)
            return VIEWER_SHOWN;
        if (result != VK_ERROR_OUT_OF_DATE_KHR)
            return vulkan_ok(result, "acquire the next swapchain image") ? VIEWER_SHOWN
                                                                         : VIEWER_FAILED;
        s->extent = (VkExtent2D){0};
    }
    fprintf(stderr, "The window changes faster than its swapchain can be recreated.\n");
    return VIEWER_FAILED;
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

bool viewer_swapchain_present(struct viewer_swapchain *s)
{
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &s->drawn[s->next],
                                   .swapchainCount = 1,
                                   .pSwapchains = &s->chain,
                                   .pImageIndices = &s->next};
    const VkResult result = s->QueuePresentKHR(s->vulkan->queue, &info);
    /* An extent of 0 makes the next acquire recreate the images. */
    if (result == VK_ERROR_OUT_OF_DATE_KHR || result == VK_SUBOPTIMAL_KHR) {
        s->extent = (VkExtent2D){0};
        return true;
    }
    return vulkan_ok(result, "show a frame");
}
