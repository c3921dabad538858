/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A Vulkan device that presents to a window. grinterop lists the extensions that it needs, and also
 * needs timeline semaphores.
 */
#include "viewer_device.h"

#include <stdio.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "examples/support/session.h"
#include "examples/support/vulkan.h"

enum { MOST_EXTENSIONS = 32, MOST_FAMILIES = 16 };

PFN_vkVoidFunction viewer_device_function(const struct viewer_device *d, const char *name)
{
    return (PFN_vkVoidFunction)glfwGetInstanceProcAddress(d->instance, name);
}

static bool no_display(void)
{
    fprintf(stderr, "Vulkan cannot present to this window. Use an X server or a Wayland compositor "
                    "that runs on the GPU that CUDA computes on, or leave out --vulkan to draw "
                    "with OpenGL.\n");
    return false;
}

bool viewer_device_presents(VkResult result, const char *doing)
{
    return vulkan_ok(result, doing) || no_display();
}

/* Creates the instance with the extensions that GLFW and grinterop need. */
static bool make_instance(struct viewer_device *d)
{
    const char *names[MOST_EXTENSIONS];
    uint32_t count = MOST_EXTENSIONS, surface = 0;
    const char **needed = glfwGetRequiredInstanceExtensions(&surface);
    if (!needed) {
        fprintf(stderr, "Cannot open Vulkan: no driver has VK_KHR_surface. Install a Vulkan driver "
                        "(Debian: mesa-vulkan-drivers), or leave out --vulkan.\n");
        return false;
    }
    if (gr_vk_instance_extensions(names, &count) != GR_OK || count + surface > MOST_EXTENSIONS)
        return failed_to("list the instance extensions");
    for (uint32_t i = 0; i < surface; i++)
        names[count++] = needed[i];
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "viewer",
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application,
                                       .enabledExtensionCount = count,
                                       .ppEnabledExtensionNames = names};
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)viewer_device_function(d, "vkCreateInstance");
    return vulkan_ok(create(&info, NULL, &d->instance), "open Vulkan");
}

/* Finds one queue family that draws and presents. */
static bool choose_family(struct viewer_device *d)
{
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t count = MOST_FAMILIES;
    const PFN_vkGetPhysicalDeviceQueueFamilyProperties list =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)viewer_device_function(
            d, "vkGetPhysicalDeviceQueueFamilyProperties");
    list(d->desc.physical_device, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT &&
            glfwGetPhysicalDevicePresentationSupport(d->instance, d->desc.physical_device, i)) {
            d->desc.queue_family = i;
            return true;
        }
    }
    return no_display();
}

static bool make_device(struct viewer_device *d)
{
    const char *names[MOST_EXTENSIONS] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    uint32_t count = MOST_EXTENSIONS - 1;
    if (gr_vk_device_extensions(&d->desc, names + 1, &count) != GR_OK)
        return failed_to("list the extensions that grinterop needs");
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = d->desc.queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &timelines,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = count + 1,
                                     .ppEnabledExtensionNames = names};
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)viewer_device_function(d, "vkCreateDevice");
    const PFN_vkGetDeviceQueue get_queue =
        (PFN_vkGetDeviceQueue)viewer_device_function(d, "vkGetDeviceQueue");
    if (!vulkan_ok(create(d->desc.physical_device, &info, NULL, &d->desc.device),
                   "make a Vulkan device"))
        return false;
    get_queue(d->desc.device, d->desc.queue_family, 0, &d->desc.queue);
    return true;
}

bool viewer_device_open(struct viewer_device *d, const struct viewer_window *window)
{
    *d = (struct viewer_device){.desc = GR_INIT(gr_vk_device_desc)};
    d->desc.get_instance_proc_addr = (PFN_vkGetInstanceProcAddr)glfwGetInstanceProcAddress;
    if (!glfwVulkanSupported()) {
        fprintf(stderr, "Cannot open Vulkan: libvulkan.so.1 was not found (Debian: "
                        "libvulkan1).\n");
        return false;
    }
    if (!make_instance(d) ||
        !viewer_device_presents(
            glfwCreateWindowSurface(d->instance, window->glfw, NULL, &d->surface),
            "use the window"))
        return false;
    d->desc.instance = d->instance;
    if (gr_vk_physical_device(d->desc.get_instance_proc_addr, d->instance, 0,
                              &d->desc.physical_device) != GR_OK)
        return failed_to("find the Vulkan device that CUDA computes on");
    return choose_family(d) && make_device(d);
}

void viewer_device_close(struct viewer_device *d)
{
    if (d->desc.device) {
        const PFN_vkDestroyDevice destroy =
            (PFN_vkDestroyDevice)viewer_device_function(d, "vkDestroyDevice");
        destroy(d->desc.device, NULL);
    }
    if (d->surface) {
        const PFN_vkDestroySurfaceKHR destroy =
            (PFN_vkDestroySurfaceKHR)viewer_device_function(d, "vkDestroySurfaceKHR");
        destroy(d->instance, d->surface, NULL);
    }
    if (d->instance) {
        const PFN_vkDestroyInstance destroy =
            (PFN_vkDestroyInstance)viewer_device_function(d, "vkDestroyInstance");
        destroy(d->instance, NULL);
    }
    *d = (struct viewer_device){0};
}
