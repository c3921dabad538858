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

#include "vk/device/handle_type.h"

/*
 * X(name, extension): the extension is NULL for functions of Vulkan 1.0. A later function is looked
 * up by its core name, then by its KHR name in the extension. So the function is found with any
 * Vulkan version that the application requested.
 */
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
 * The functions of one device of the application, with their own names:
 * device->vk.vkCreateBuffer(...). Optional functions may be NULL, and so may semaphore functions of
 * extensions that the device lacks. With the copy transport all functions of extensions may be
 * NULL.
 */
#define GR_VK_MEMBER(name, extension) PFN_##name name;
struct vk_functions {
    GR_VK_INSTANCE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_DEVICE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_OPTIONAL_FUNCTIONS(GR_VK_MEMBER)
};
#undef GR_VK_MEMBER

/*
 * Look up the functions; missing functions become NULL. vk_load_device() needs the result of
 * vk_load_instance().
 */
void vk_load_instance(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get, VkInstance instance);
void vk_load_device(struct vk_functions *vk, VkDevice device);

/*
 * Checks that all functions were found that grinterop requires or that the device supports.
 * GR_ERR_UNSUPPORTED lists all missing extensions at once; GR_ERR_VULKAN names a missing function
 * of Vulkan 1.0. If `lacks` is not NULL, missing extensions are no error: `lacks` receives the
 * missing extensions that sharing memory requires.
 */
gr_status vk_check_functions(const struct vk_functions *vk, VkPhysicalDevice device, char *lacks,
                             size_t size, const char *call);

#endif
