/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of Vulkan that make a device without a window. */
#ifndef GR_VK_HEADLESS_FUNCTIONS_H
#define GR_VK_HEADLESS_FUNCTIONS_H

#include <grinterop/vk.h>

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

/* Looks up what the loader itself has, and what the instance has. */
void vk_headless_load_global(struct vk_headless_functions *vk, PFN_vkGetInstanceProcAddr get);
void vk_headless_load_instance(struct vk_headless_functions *vk, PFN_vkGetInstanceProcAddr get,
                               VkInstance instance);

#endif
