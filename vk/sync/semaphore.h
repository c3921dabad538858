/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Creates semaphores that Vulkan and CUDA share. */
#ifndef GR_VK_SYNC_SEMAPHORE_H
#define GR_VK_SYNC_SEMAPHORE_H

#include "vk/device/device.h"

/*
 * Implements gr_vk_semaphore_create() with checked arguments, for any owner except the application.
 */
gr_semaphore *vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type,
                                  enum vk_semaphore_owner owner, const char *call);

/* Creates a VkSemaphore that the caller owns; `exportable` by GR_VK_SEMAPHORE_HANDLE. */
gr_status vk_semaphore_new(const gr_vk_device *device, VkSemaphoreType kind, bool exportable,
                           VkSemaphore *semaphore);

#endif
