/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A Vulkan device on the CPU, which is foreign to the GPU on which CUDA computes. */
#define _GNU_SOURCE
#include "bench/frames/vulkan.h"

#include <dlfcn.h>
#include <string.h>

#define MOST_DEVICES    8
#define MOST_EXTENSIONS 16

#define FIND(on, name) ((PFN_##name)(on)->get_instance_proc_addr((on)->instance, #name))

static bool failed(const char *what, VkResult result)
{
    frames_set_error("%s: VkResult %d", what, (int)result);
    return false;
}

static bool find_loader(gr_vk_device_desc *on)
{
    void *file = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = file ? dlsym(file, "vkGetInstanceProcAddr") : NULL;
    memcpy(&on->get_instance_proc_addr, &found, sizeof(found));
    if (!found)
        frames_set_error("libvulkan.so.1 is missing");
    return found;
}

static bool create_instance(gr_vk_device_desc *on)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    const PFN_vkCreateInstance create = FIND(on, vkCreateInstance);
    VkResult result = create(&info, NULL, &on->instance);
    return result == VK_SUCCESS || failed("vkCreateInstance", result);
}

static bool choose_device(gr_vk_device_desc *on)
{
    VkPhysicalDevice devices[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    VkResult result = FIND(on, vkEnumeratePhysicalDevices)(on->instance, &count, devices);
    for (uint32_t i = 0; result >= 0 && i < count; i++) {
        VkPhysicalDeviceProperties properties;
        FIND(on, vkGetPhysicalDeviceProperties)(devices[i], &properties);
        if (properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU)
            continue;
        on->physical_device = devices[i];
        return true;
    }
    frames_set_error("no Vulkan driver draws on the CPU: install Mesa's lavapipe, and check "
                     "VK_DRIVER_FILES");
    return false;
}

/* Mesa's only queue family supports all commands. */
static bool create_device(gr_vk_device_desc *on)
{
    static const float priority = 1;
    const char *names[MOST_EXTENSIONS];
    uint32_t count = MOST_EXTENSIONS;
    if (gr_vk_device_extensions(on, names, &count) != GR_OK)
        return frames_grinterop_failed("gr_vk_device_extensions");
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &timeline,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = count,
                                     .ppEnabledExtensionNames = names};
    VkResult result = FIND(on, vkCreateDevice)(on->physical_device, &info, NULL, &on->device);
    if (result != VK_SUCCESS)
        return failed("vkCreateDevice", result);
    FIND(on, vkGetDeviceQueue)(on->device, 0, 0, &on->queue);
    return true;
}

bool frames_software_vulkan_open(gr_vk_device_desc *on)
{
    *on = GR_INIT(gr_vk_device_desc, .transports = GR_TRANSPORT_COPY);
    return find_loader(on) && create_instance(on) && choose_device(on) && create_device(on);
}

void frames_software_vulkan_close(const gr_vk_device_desc *on)
{
    if (on->device != VK_NULL_HANDLE)
        FIND(on, vkDestroyDevice)(on->device, NULL);
    if (on->instance != VK_NULL_HANDLE)
        FIND(on, vkDestroyInstance)(on->instance, NULL);
}
