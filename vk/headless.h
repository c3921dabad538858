/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of Vulkan without a window share. */
#ifndef GR_VK_HEADLESS_H
#define GR_VK_HEADLESS_H

#include "vk/device_match.h"

/* X(name): functions of the loader itself, and of an instance. */
#define GR_VK_HEADLESS_GLOBAL(X)                                                                   \
    X(vkEnumerateInstanceVersion)                                                                  \
    X(vkEnumerateInstanceLayerProperties)                                                          \
    X(vkCreateInstance)
#define GR_VK_HEADLESS_INSTANCE(X)                                                                 \
    X(vkDestroyInstance)                                                                           \
    X(vkCreateDebugUtilsMessengerEXT)                                                              \
    X(vkDestroyDebugUtilsMessengerEXT)                                                             \
    X(vkEnumeratePhysicalDevices)                                                                  \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkCreateDevice)                                                                              \
    X(vkDestroyDevice)                                                                             \
    X(vkGetDeviceQueue)

#define GR_VK_HEADLESS_MEMBER(name) PFN_##name name;
struct vk_headless_functions {
    GR_VK_HEADLESS_GLOBAL(GR_VK_HEADLESS_MEMBER)
    GR_VK_HEADLESS_INSTANCE(GR_VK_HEADLESS_MEMBER)
};
#undef GR_VK_HEADLESS_MEMBER

struct gr_vk_headless {
    gr_vk_headless_options options;
    struct vk_headless_functions vk;
    VkDebugUtilsMessengerEXT messenger;
    struct vk_identity identity;
    gr_vk_headless_handles handles;
};

/* Makes the device and its queues on handles.physical_device (headless_device.c). */
gr_status vk_headless_create_device(struct gr_vk_headless *headless, const char *call);

#endif
