/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds VK_KHR_external_memory_win32 and VK_KHR_external_semaphore_win32 to the Vulkan of Wine,
 * which has neither. Exported memory is a section of Windows that Vulkan imports as host memory;
 * exported semaphores are timelines whose section has the functions of follower_driver.h.
 */
#ifndef GR_TESTS_WIN32_VULKAN_H
#define GR_TESTS_WIN32_VULKAN_H

#include <stdbool.h>

#include <windows.h>

#include <vulkan/vulkan_core.h>
#include <vulkan/vulkan_win32.h>

/* The function to pass to grinterop. It calls `below`, which is to be set first. */
PFN_vkVoidFunction VKAPI_CALL win32_vulkan(VkInstance instance, const char *name);

extern struct win32_vulkan {
    PFN_vkGetInstanceProcAddr below;
    VkDevice device;
    /* What Vulkan reports as the device: its own UUID if `uuid` is NULL, and no LUID if NULL. */
    const unsigned char *uuid, *luid;
    /* The numbers of existing exportable memories, and of those that are dedicated. */
    unsigned memories, dedicated;
    /* A rule of the extensions that the library broke; NULL: none. */
    const char *broken;
} win32;

#endif
