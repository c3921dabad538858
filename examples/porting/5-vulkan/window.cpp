/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The GLFW window and the Vulkan swapchain. */
#include "window.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "vulkan.h"

#include <GLFW/glfw3.h>

static GLFWwindow *window;
static VkSurfaceKHR surface;
static VkSwapchainKHR swapchain;
static VkExtent2D extent;
static std::vector<VkImage> images;
static std::vector<VkSemaphore> drawn; /* signalled when the image of that index may be presented */
static uint32_t next;

bool openWindow(int side, const char *title)
{
    if (!glfwInit())
        return false;
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_RESIZABLE, GLFW_FALSE);
    window = glfwCreateWindow(side, side, title, NULL, NULL);
    if (!window || !glfwVulkanSupported()) {
        fprintf(stderr, window ? "GLFW finds no Vulkan\n" : "GLFW opens no window\n");
        exit(1);
    }
    atEnd(glfwTerminate);
    return true;
}

std::vector<const char *> instanceExtensions()
{
    uint32_t count = 0;
    const char **names = window ? glfwGetRequiredInstanceExtensions(&count) : nullptr;
    return std::vector<const char *>(names, names + count);
}

std::vector<const char *> deviceExtensions()
{
    if (!window)
        return {};
    return {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
}

bool canPresent(uint32_t family)
{
    return !window || glfwGetPhysicalDevicePresentationSupport(vk.instance, vk.gpu, family);
}

/* ---- The swapchain ---- */

static VkSurfaceFormatKHR chooseFormat()
{
    uint32_t count = 0;
    checkVulkan(vkGetPhysicalDeviceSurfaceFormatsKHR(vk.gpu, surface, &count, nullptr));
    std::vector<VkSurfaceFormatKHR> formats(count);
    checkVulkan(vkGetPhysicalDeviceSurfaceFormatsKHR(vk.gpu, surface, &count, formats.data()));
    for (const VkSurfaceFormatKHR &format : formats)
        if (format.format == VK_FORMAT_B8G8R8A8_UNORM || format.format == VK_FORMAT_R8G8B8A8_UNORM)
            return format;
    return formats.at(0);
}

static void findImages()
{
    uint32_t count = 0;
    checkVulkan(vkGetSwapchainImagesKHR(vk.device, swapchain, &count, nullptr));
    images.resize(count);
    checkVulkan(vkGetSwapchainImagesKHR(vk.device, swapchain, &count, images.data()));
    while (drawn.size() < count)
        drawn.push_back(createSemaphore());
}

/* Makes the swapchain, or replaces one that no longer fits the window. */
static void makeSwapchain()
{
    VkSurfaceCapabilitiesKHR can;
    checkVulkan(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(vk.gpu, surface, &can));
    int width, height;
    glfwGetFramebufferSize(window, &width, &height);
    extent = can.currentExtent;
    if (extent.width == UINT32_MAX) /* the swapchain may choose the size */
        extent = {uint32_t(width), uint32_t(height)};
    const VkSurfaceFormatKHR format = chooseFormat();
    const VkSwapchainKHR old = swapchain;
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = surface,
                                           .minImageCount = can.minImageCount,
                                           .imageFormat = format.format,
                                           .imageColorSpace = format.colorSpace,
                                           .imageExtent = extent,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                           .preTransform = can.currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                           .clipped = VK_TRUE,
                                           .oldSwapchain = old};
    checkVulkan(vkDeviceWaitIdle(vk.device));
    checkVulkan(vkCreateSwapchainKHR(vk.device, &info, nullptr, &swapchain));
    vkDestroySwapchainKHR(vk.device, old, nullptr);
    findImages();
}

void createSwapchain()
{
    if (!window)
        return;
    checkVulkan(glfwCreateWindowSurface(vk.instance, window, nullptr, &surface));
    atEnd([] { vkDestroySurfaceKHR(vk.instance, surface, nullptr); });
    VkBool32 can = VK_FALSE;
    checkVulkan(vkGetPhysicalDeviceSurfaceSupportKHR(vk.gpu, vk.family, surface, &can));
    if (!can) {
        fprintf(stderr, "the GPU that CUDA computes on shows nothing in this window\n");
        exit(1);
    }
    makeSwapchain();
    atEnd([] { vkDestroySwapchainKHR(vk.device, swapchain, nullptr); });
}

/* ---- A frame ---- */

bool windowIsOpen()
{
    if (!window)
        return true;
    glfwPollEvents();
    return !glfwWindowShouldClose(window);
}

float secondsOpen()
{
    return float(glfwGetTime());
}

void takeImage(VkSemaphore taken)
{
    if (!window)
        return;
    VkResult result;
    while ((result = vkAcquireNextImageKHR(vk.device, swapchain, UINT64_MAX, taken, VK_NULL_HANDLE,
                                           &next)) == VK_ERROR_OUT_OF_DATE_KHR)
        makeSwapchain();
    if (result != VK_SUBOPTIMAL_KHR)
        checkVulkanResult(result, "vkAcquireNextImageKHR");
}

void copyToWindow(VkCommandBuffer commands, VkImage from, int side)
{
    if (!window)
        return;
    const VkImageSubresourceLayers layer = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkImageBlit all = {.srcSubresource = layer,
                             .srcOffsets = {{}, {side, side, 1}},
                             .dstSubresource = layer,
                             .dstOffsets = {{}, {int(extent.width), int(extent.height), 1}}};
    changeLayout(commands, images[next], VK_IMAGE_LAYOUT_UNDEFINED,
                 VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdBlitImage(commands, from, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, images[next],
                   VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &all, VK_FILTER_NEAREST);
    changeLayout(commands, images[next], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                 VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
}

static std::vector<VkSemaphoreSubmitInfo> listOf(VkSemaphore semaphore)
{
    return {{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
             .semaphore = semaphore,
             .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
}

std::vector<VkSemaphoreSubmitInfo> waitsOf(VkSemaphore taken)
{
    return window ? listOf(taken) : std::vector<VkSemaphoreSubmitInfo>();
}

std::vector<VkSemaphoreSubmitInfo> signalsOfImage()
{
    return window ? listOf(drawn[next]) : std::vector<VkSemaphoreSubmitInfo>();
}

void showImage()
{
    if (!window)
        return;
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &drawn[next],
                                   .swapchainCount = 1,
                                   .pSwapchains = &swapchain,
                                   .pImageIndices = &next};
    const VkResult result = vkQueuePresentKHR(vk.queue, &info);
    if (result == VK_ERROR_OUT_OF_DATE_KHR)
        makeSwapchain();
    else if (result != VK_SUBOPTIMAL_KHR)
        checkVulkanResult(result, "vkQueuePresentKHR");
}
