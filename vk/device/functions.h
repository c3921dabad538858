/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan functions that grinterop calls, with their extensions, loaded through the
 * application's vkGetInstanceProcAddr.
 */
#ifndef GR_VK_DEVICE_FUNCTIONS_H
#define GR_VK_DEVICE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <grinterop/vk.h>

#include "vk/device/handle.h"

/*
 * X(name, extension): the extension is NULL for functions of Vulkan 1.0. A later function is looked
 * up by its core name, then by its KHR name in the extension. So the function is found with any
 * Vulkan version that the application requested.
 */

/* Functions that create instances, instances, and devices: for headless.c and device_match.c. */
#define GR_VK_GLOBAL_FUNCTIONS(X)                                                                  \
    X(vkEnumerateInstanceVersion, NULL)                                                            \
    X(vkEnumerateInstanceLayerProperties, NULL)                                                    \
    X(vkCreateInstance, NULL)

#define GR_VK_HEADLESS_FUNCTIONS(X)                                                                \
    X(vkDestroyInstance, NULL)                                                                     \
    X(vkCreateDebugUtilsMessengerEXT, NULL)                                                        \
    X(vkDestroyDebugUtilsMessengerEXT, NULL)                                                       \
    X(vkEnumeratePhysicalDevices, NULL)                                                            \
    X(vkCreateDevice, NULL)                                                                        \
    X(vkDestroyDevice, NULL)                                                                       \
    X(vkGetDeviceQueue, NULL)

/* Functions that a wrapped device needs. */
#define GR_VK_INSTANCE_FUNCTIONS(X)                                                                \
    X(vkGetDeviceProcAddr, NULL)                                                                   \
    X(vkEnumerateDeviceExtensionProperties, NULL)                                                  \
    X(vkGetPhysicalDeviceProperties, NULL)                                                         \
    X(vkGetPhysicalDeviceMemoryProperties, NULL)                                                   \
    X(vkGetPhysicalDeviceQueueFamilyProperties, NULL)                                              \
    X(vkGetPhysicalDeviceFormatProperties, NULL)                                                   \
    X(vkGetPhysicalDeviceImageFormatProperties, NULL)                                              \
    X(vkGetPhysicalDeviceProperties2, "VK_KHR_get_physical_device_properties2")                    \
    X(vkGetPhysicalDeviceFeatures2, "VK_KHR_get_physical_device_properties2")                      \
    X(vkGetPhysicalDeviceImageFormatProperties2, "VK_KHR_get_physical_device_properties2")         \
    X(vkGetPhysicalDeviceExternalBufferProperties, "VK_KHR_external_memory_capabilities")          \
    X(vkGetPhysicalDeviceExternalSemaphoreProperties, "VK_KHR_external_semaphore_capabilities")

#define GR_VK_DEVICE_FUNCTIONS(X)                                                                  \
    X(vkCreateBuffer, NULL)                                                                        \
    X(vkDestroyBuffer, NULL)                                                                       \
    X(vkCreateImage, NULL)                                                                         \
    X(vkDestroyImage, NULL)                                                                        \
    X(vkGetImageSubresourceLayout, NULL)                                                           \
    X(vkGetBufferMemoryRequirements, NULL)                                                         \
    X(vkGetImageMemoryRequirements, NULL)                                                          \
    X(vkAllocateMemory, NULL)                                                                      \
    X(vkFreeMemory, NULL)                                                                          \
    X(vkMapMemory, NULL)                                                                           \
    X(vkBindBufferMemory, NULL)                                                                    \
    X(vkBindImageMemory, NULL)                                                                     \
    X(vkCreateSemaphore, NULL)                                                                     \
    X(vkDestroySemaphore, NULL)                                                                    \
    X(vkCreateCommandPool, NULL)                                                                   \
    X(vkDestroyCommandPool, NULL)                                                                  \
    X(vkResetCommandPool, NULL)                                                                    \
    X(vkAllocateCommandBuffers, NULL)                                                              \
    X(vkBeginCommandBuffer, NULL)                                                                  \
    X(vkEndCommandBuffer, NULL)                                                                    \
    X(vkQueueSubmit, NULL)                                                                         \
    X(vkCmdPipelineBarrier, NULL)                                                                  \
    X(vkCmdCopyBuffer, NULL)                                                                       \
    X(vkCmdCopyBufferToImage, NULL)                                                                \
    X(vkCmdCopyImageToBuffer, NULL)                                                                \
    X(vkGetBufferMemoryRequirements2, "VK_KHR_get_memory_requirements2")                           \
    X(vkGetImageMemoryRequirements2, "VK_KHR_get_memory_requirements2")                            \
    GR_VK_HANDLE_FUNCTIONS(X)                                                                      \
    X(vkWaitSemaphores, "VK_KHR_timeline_semaphore")                                               \
    X(vkSignalSemaphore, "VK_KHR_timeline_semaphore")                                              \
    X(vkGetSemaphoreCounterValue, "VK_KHR_timeline_semaphore")

/*
 * X(name, extension): functions of optional features. They are looked up like other device
 * functions, and may be NULL.
 */
#define GR_VK_OPTIONAL_FUNCTIONS(X)                                                                \
    X(vkGetMemoryHostPointerPropertiesEXT, "VK_EXT_external_memory_host")                          \
    X(vkCmdPipelineBarrier2, "VK_KHR_synchronization2")                                            \
    X(vkQueueSubmit2, "VK_KHR_synchronization2")

/*
 * The functions of an instance and a device, with their own names: device->vk.vkCreateBuffer(...).
 * Optional functions may be NULL, and so may semaphore functions of extensions that the device
 * lacks. With the copy transport all functions of extensions may be NULL.
 */
#define GR_VK_MEMBER(name, extension) PFN_##name name;
struct vk_functions {
    GR_VK_GLOBAL_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_HEADLESS_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_INSTANCE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_DEVICE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_OPTIONAL_FUNCTIONS(GR_VK_MEMBER)
};
#undef GR_VK_MEMBER

/*
 * Opens the Vulkan loader, and sets *get to its vkGetInstanceProcAddr, or to a function that takes
 * no instance and returns what the loader exports: the core functions of Vulkan, which take any
 * physical device or device. GR_ERR_UNSUPPORTED: there is no loader.
 */
gr_status vk_open_loader(PFN_vkGetInstanceProcAddr *get);
gr_status vk_open_exported(PFN_vkGetInstanceProcAddr *get);

/*
 * Looks up the functions that take neither an instance nor a device, or those of the instance and,
 * unless it is NULL, of the device. Missing functions become NULL.
 */
void vk_load_global(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get);
void vk_load(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get, VkInstance instance,
             VkDevice device);

#endif
