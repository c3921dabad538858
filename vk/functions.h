/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of Vulkan that grinterop calls, each with the extension that it comes from, got
 * through the application's own vkGetInstanceProcAddr.
 */
#ifndef GR_VK_FUNCTIONS_H
#define GR_VK_FUNCTIONS_H

#include <stdbool.h>

#include <grinterop/vk.h>

#if defined(_WIN32)
#include <windows.h>
#include <vulkan/vulkan_win32.h>
#endif

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
    X(vkCmdPipelineBarrier, NULL)                                                                  \
    X(vkGetBufferMemoryRequirements2, "VK_KHR_get_memory_requirements2")                           \
    X(vkGetImageMemoryRequirements2, "VK_KHR_get_memory_requirements2")                            \
    GR_VK_HANDLE_FUNCTIONS(X)                                                                      \
    X(vkWaitSemaphores, "VK_KHR_timeline_semaphore")                                               \
    X(vkSignalSemaphore, "VK_KHR_timeline_semaphore")                                              \
    X(vkGetSemaphoreCounterValue, "VK_KHR_timeline_semaphore")

/* What the two platforms share memory and semaphores by. */
#if defined(_WIN32)
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_win32"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_win32"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_WIN32_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_WIN32"
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryWin32HandleKHR, GR_VK_MEMORY_EXTENSION)                                           \
    X(vkGetSemaphoreWin32HandleKHR, GR_VK_SEMAPHORE_EXTENSION)
#else
#define GR_VK_MEMORY_EXTENSION    "VK_KHR_external_memory_fd"
#define GR_VK_SEMAPHORE_EXTENSION "VK_KHR_external_semaphore_fd"
#define GR_VK_MEMORY_HANDLE       VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_SEMAPHORE_HANDLE    VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#define GR_VK_HANDLE_NAME         "OPAQUE_FD"
#define GR_VK_HANDLE_FUNCTIONS(X)                                                                  \
    X(vkGetMemoryFdKHR, GR_VK_MEMORY_EXTENSION)                                                    \
    X(vkGetSemaphoreFdKHR, GR_VK_SEMAPHORE_EXTENSION)
#endif

/*
 * What gr_vk_instance_extensions() and gr_vk_device_extensions() name, and whether grinterop cannot
 * do without. Most became part of Vulkan 1.1 or 1.2, where enabling them does no harm.
 */
#define GR_VK_INSTANCE_EXTENSIONS(X)                                                               \
    X("VK_KHR_get_physical_device_properties2", true)                                              \
    X("VK_KHR_external_memory_capabilities", true)                                                 \
    X("VK_KHR_external_semaphore_capabilities", true)

#define GR_VK_DEVICE_EXTENSIONS(X)                                                                 \
    X("VK_KHR_get_memory_requirements2", true)                                                     \
    X("VK_KHR_dedicated_allocation", true)                                                         \
    X("VK_KHR_external_memory", true)                                                              \
    X(GR_VK_MEMORY_EXTENSION, true)                                                                \
    X("VK_KHR_external_semaphore", false)                                                          \
    X(GR_VK_SEMAPHORE_EXTENSION, false)                                                            \
    X("VK_KHR_timeline_semaphore", false)

/*
 * The functions of one application's device, under their own names: device->vk.vkCreateBuffer(...).
 * NULL are only those of extensions that the device does not have: for semaphores.
 */
#define GR_VK_MEMBER(name, extension) PFN_##name name;
struct vk_functions {
    GR_VK_INSTANCE_FUNCTIONS(GR_VK_MEMBER)
    GR_VK_DEVICE_FUNCTIONS(GR_VK_MEMBER)
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

/* ---- The extensions of a device (extensions.c) ----------------------------------------------- */

struct vk_extensions {
    VkExtensionProperties *list;
    uint32_t count;
};

/* Those that the device has; `extensions` is freed with vk_extensions_end(). GR_ERR_VULKAN. */
gr_status vk_extensions_get(PFN_vkEnumerateDeviceExtensionProperties enumerate,
                            VkPhysicalDevice device, struct vk_extensions *extensions);
bool vk_extensions_have(const struct vk_extensions *extensions, const char *name);
void vk_extensions_end(struct vk_extensions *extensions);

#endif
