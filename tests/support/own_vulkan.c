/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "own_vulkan.h"

#include <dlfcn.h>
#include <string.h>

static const char *make_instance(gr_vk_device_desc *on)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    void *file = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = file ? dlsym(file, "vkGetInstanceProcAddr") : NULL;
    memcpy(&on->get_instance_proc_addr, &found, sizeof(found));
    if (!found)
        return "libvulkan.so.1 is missing";
    if (OWN_VULKAN(on, vkCreateInstance)(&info, NULL, &on->instance) != VK_SUCCESS)
        return "vkCreateInstance failed";
    return NULL;
}

static bool choose(gr_vk_device_desc *on, bool (*is)(const gr_vk_device_desc *on))
{
    VkPhysicalDevice devices[16];
    uint32_t count = sizeof(devices) / sizeof(*devices);
    if (OWN_VULKAN(on, vkEnumeratePhysicalDevices)(on->instance, &count, devices) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        on->physical_device = devices[i];
        if (is(on))
            return true;
    }
    return false;
}

const char *own_vulkan_make_device(gr_vk_device_desc *on)
{
    static const float priority = 1;
    const char *names[16];
    uint32_t count = sizeof(names) / sizeof(*names);
    if (!on->transports)
        count = 0;
    else if (gr_vk_device_extensions(on, names, &count) != GR_OK)
        return gr_last_error()->message;
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = on->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &timeline,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = count,
                                     .ppEnabledExtensionNames = names};
    return OWN_VULKAN(on, vkCreateDevice)(on->physical_device, &info, NULL, &on->device)
               ? "vkCreateDevice failed"
               : NULL;
}

const char *own_vulkan_open(gr_vk_device_desc *on, bool (*is)(const gr_vk_device_desc *on))
{
    const char *reason = make_instance(on);
    if (!reason)
        reason = choose(on, is) ? own_vulkan_make_device(on) : "Vulkan does not have this device";
    if (reason)
        own_vulkan_close(on);
    return reason;
}

void own_vulkan_close(gr_vk_device_desc *on)
{
    if (on->device != VK_NULL_HANDLE)
        OWN_VULKAN(on, vkDestroyDevice)(on->device, NULL);
    if (on->instance != VK_NULL_HANDLE)
        OWN_VULKAN(on, vkDestroyInstance)(on->instance, NULL);
    on->device = VK_NULL_HANDLE;
    on->instance = VK_NULL_HANDLE;
}
