/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Exports handles of memory and semaphores, which CUDA or another process imports. */
#ifndef GR_VK_DEVICE_EXPORT_H
#define GR_VK_DEVICE_EXPORT_H

#include "vk/device/device.h"

/* A file descriptor, or a Windows handle. */
#if defined(_WIN32)
typedef void *vk_handle;
#else
typedef int vk_handle;
#endif

/* Export a handle, which the caller owns. GR_ERR_VULKAN after an error. */
gr_status vk_export_memory(const gr_vk_device *device, VkDeviceMemory memory, vk_handle *handle);
gr_status vk_export_semaphore(const gr_vk_device *device, VkSemaphore semaphore, vk_handle *handle);

/*
 * Closes the handle after CUDA imported it, or failed to. An import takes over a file descriptor,
 * whose number may then be in use for another file, but it duplicates a Windows handle.
 */
void vk_handle_close(vk_handle handle, bool imported);

#endif
