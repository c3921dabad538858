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

/*
 * The handle type that the platform uses for exported memory and semaphores: a file descriptor, or
 * a Windows handle. GR_VK_HANDLE_FUNCTIONS(X) lists its functions like the lists below.
 */
#if defined(_WIN32)
#include <windows.h>
#include <vulkan/vulkan_win32.h>
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_win32"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_WIN32"
#define GR_VK_HANDLE_FIELD        win32_handle /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_GET_SEMAPHORE       vkGetSemaphoreWin32HandleKHR
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryWin32HandleKHR, GR_VK_MEMORY_EXTENSION)                                           \
    X(vkGetSemaphoreWin32HandleKHR, GR_VK_SEMAPHORE_EXTENSION)
#else
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_fd"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_fd"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_FD"
#define GR_VK_HANDLE_FIELD        fd /* of gr_external_memory_desc, gr_semaphore_desc */
#define GR_VK_GET_SEMAPHORE       vkGetSemaphoreFdKHR
#define GR_VK_CUDA_MEMORY         CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_BINARY         CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define GR_VK_CUDA_TIMELINE       CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryFdKHR, GR_VK_MEMORY_EXTENSION)                                                    \
    X(vkGetSemaphoreFdKHR, GR_VK_SEMAPHORE_EXTENSION)
#endif

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
 * Looks up the functions of the most special object that is not NULL: the global functions, those
 * of the instance, or those of the instance and the device. Missing functions become NULL.
 */
void vk_load(struct vk_functions *vk, PFN_vkGetInstanceProcAddr get, VkInstance instance,
             VkDevice device);

#endif
