/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Timeline semaphores through the host, for semaphores that cannot or should not be exported: a
 * stream waits and signals by a host function, in stream order. A wait blocks its own stream. (The
 * driver may run the host functions of several streams one at a time, so a wait can block other
 * streams too; the software driver does not.)
 */
#ifndef GR_VK_HOST_SEMAPHORE_H
#define GR_VK_HOST_SEMAPHORE_H

#include "lib/context.h"
#include "vk/device.h"

/* Wraps a VkSemaphore whose handle CUDA never sees; otherwise like vk_semaphore_import(). */
gr_semaphore *vk_semaphore_by_host(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                   enum vk_semaphore_owner owner, const struct gr_context *context,
                                   const char *call);

/*
 * Waits until the streams have passed all its queued operations. Does nothing for other semaphores.
 */
void vk_host_semaphore_finish(gr_semaphore *semaphore);

/* The VkSemaphore; VK_NULL_HANDLE for other semaphores. */
VkSemaphore vk_semaphore_of_host(const gr_semaphore *semaphore);

#endif
