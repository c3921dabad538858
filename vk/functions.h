/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of Vulkan that grinterop calls, each with the extension that it comes from, got
 * through the application's own vkGetInstanceProcAddr.
 */
#ifndef GR_VK_FUNCTIONS_H
#define GR_VK_FUNCTIONS_H

#include <stdbool.h>

#include <grinterop/vk.h>

#include "vk/handle_type.h"

/*
 * X(name, extension): functions of Vulkan 1.0 have no extension. Later ones are looked for under
 * the core name, then under the one with KHR that the extension gave them, so that they are found
 * whatever version the application asked for.
 */
#define GR_VK_INSTANCE_FUNCTIONS(X)                                                                \
    X(vkGetDeviceProcAddr, NULL)                                                                   \
    X(vkEnumerateDeviceExtensionProperties, NULL)                                                  \
    X(vkGetPhysicalDeviceMemoryProperties, NULL)                                                   \
    X(vkGetPhysicalDeviceQueueFamilyProperties, NULL)                                              \
    X(vkGetPhysicalDeviceFormatProperties, NULL)                                                   \
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
    X(vkAllocateMemory, NULL)                                                                      \
    X(vkFreeMemory, NULL)                                                                          \
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
    X(vkGetBufferMemoryRequirements2, "VK_KHR_get_memory_requirements2")                           \
    X(vkGetImageMemoryRequirements2, "VK_KHR_get_memory_requirements2")                            \
    GR_VK_HANDLE_FUNCTIONS(X)                                                                      \
    X(vkWaitSemaphores, "VK_KHR_timeline_semaphore")                                               \
    X(vkSignalSemaphore, "VK_KHR_timeline_semaphore")                                              \
    X(vkGetSemaphoreCounterValue, "VK_KHR_timeline_semaphore")

/*
 * Those of features that the application may enable and say so. They are looked for like the
 * device's others.
 */
#define GR_VK_OPTIONAL_FUNCTIONS(X)                                                                \
    X(vkCmdPipelineBarrier2, "VK_KHR_synchronization2")                                            \
    X(vkQueueSubmit2, "VK_KHR_synchronization2")

/*
 * The functions of one application's device, under their own names: device->vk.vkCreateBuffer(...).
 * NULL are only those of extensions that the device does not have, for semaphores, and the optional
 * ones.
 */
#define GR_VK_MEMBER(name, extension) PFN_##name name;
struct vk_functions {
    GR_VK_INSTANCE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_DEVICE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_OPTIONAL_FUNCTIONS(GR_VK_MEMBER)
};
#undef GR_VK_MEMBER

/* Look the functions up; what is not there is NULL. The second needs what the first found. */
void vk_load_instance(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get, VkInstance instance);
void vk_load_device(struct vk_functions *vk, VkDevice device);

/*
 * Whether everything was found that grinterop needs or that the device has. GR_ERR_UNSUPPORTED
 * lists all extensions that are missing at once, GR_ERR_VULKAN names a function of Vulkan 1.0.
 */
gr_status vk_check_functions(const struct vk_functions *vk, VkPhysicalDevice device,
                             const char *call);

#endif
