/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * File descriptors and Windows handles. Each system has its own implementation (handle_posix.c,
 * handle_windows.c).
 */
#ifndef GR_VK_DEVICE_HANDLE_H
#define GR_VK_DEVICE_HANDLE_H

#include <stdbool.h>

#include "vk/device/functions.h"

/* Export a handle, which the caller owns. */
VkResult vk_get_memory(const struct vk_functions *vk, VkDevice device, VkDeviceMemory memory,
                       vk_handle *handle);
VkResult vk_get_semaphore(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                          vk_handle *handle);

/*
 * Closes the handle after CUDA imported it, or failed to. An import takes over a file descriptor,
 * whose number may then be in use for another file, but it duplicates a Windows handle.
 */
void vk_handle_close(vk_handle handle, bool imported);

/*
 * The end of the pNext chain of exportable memory and of exportable semaphores: the access rights
 * of a Windows handle, or NULL.
 */
extern const void *const vk_memory_rights;
extern const void *const vk_semaphore_rights;

#endif
