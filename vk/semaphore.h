/* SPDX-License-Identifier: Apache-2.0 */
/* Making semaphores that Vulkan and CUDA share. */
#ifndef GR_VK_SEMAPHORE_H
#define GR_VK_SEMAPHORE_H

#include "vk/device.h"

/*
 * gr_vk_semaphore_create() for that owner, which is not the application; the arguments were
 * checked.
 */
gr_semaphore *vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type,
                                  enum vk_semaphore_owner owner, const char *call);

#endif
