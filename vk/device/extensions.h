/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The Vulkan extensions that grinterop uses, those that a device supports, and those that are not
 * enabled.
 */
#ifndef GR_VK_DEVICE_EXTENSIONS_H
#define GR_VK_DEVICE_EXTENSIONS_H

#include <stdbool.h>

#include <grinterop/vk.h>

#include "vk/device/functions.h"

/*
 * X(name, required): the extensions that gr_vk_instance_extensions() and gr_vk_device_extensions()
 * list, and whether grinterop requires them. Most became part of Vulkan 1.1 or 1.2, where enabling
 * the extension has no effect.
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
    X("VK_KHR_timeline_semaphore", false)                                                          \
    X("VK_EXT_external_memory_host", false)

/* The result of vkEnumerateDeviceExtensionProperties. */
struct vk_extensions {
    VkExtensionProperties *list;
    uint32_t count;
};

/*
 * Lists the extensions that the device supports. The list is freed by vk_extensions_end(). Error:
 * GR_ERR_VULKAN.
 */
gr_status vk_extensions_get(const struct vk_functions *vk, VkPhysicalDevice device,
                            struct vk_extensions *extensions);
bool vk_extensions_have(const struct vk_extensions *extensions, const char *name);
void vk_extensions_end(struct vk_extensions *extensions);

/* The most names that vk_extensions_used() returns. */
#define VK_EXTENSIONS_MOST 16

/* Returns the number and the names of the device extensions that grinterop uses. */
uint32_t vk_extensions_used(const struct vk_extensions *extensions,
                            const char *names[VK_EXTENSIONS_MOST]);

/*
 * Checks that all functions were found that grinterop requires or that the device supports.
 * GR_ERR_UNSUPPORTED lists all missing extensions at once; GR_ERR_VULKAN names a missing function
 * of Vulkan 1.0. If `lacks` is not NULL, missing extensions are no error: `lacks` receives the
 * missing extensions that sharing memory requires.
 */
gr_status vk_extensions_check(const struct vk_functions *vk, VkPhysicalDevice device, char *lacks,
                              size_t size, const char *call);

#endif
