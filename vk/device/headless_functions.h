/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The Vulkan functions that create a headless device. */
#ifndef GR_VK_DEVICE_HEADLESS_FUNCTIONS_H
#define GR_VK_DEVICE_HEADLESS_FUNCTIONS_H

#include <grinterop/vk.h>

/*
 * X(name): GR_VK_HEADLESS_GLOBAL lists the global functions, GR_VK_HEADLESS_INSTANCE the instance
 * functions.
 */
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

#endif
