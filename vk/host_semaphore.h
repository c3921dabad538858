/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline semaphores through the host, where they cannot be exported or shall not be: a stream
 * waits and signals by a host function, in stream order. A wait holds up its own stream. (The
 * driver may run host functions of several streams one after the other, so there a wait can hold up
 * others too; the software driver does not.)
 */
#ifndef GR_VK_HOST_SEMAPHORE_H
#define GR_VK_HOST_SEMAPHORE_H

#include "lib/context.h"
#include "vk/device.h"

/* A semaphore of the VkSemaphore, whose handle CUDA never sees; as vk_semaphore_import(). */
gr_semaphore *vk_semaphore_by_host(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                   enum vk_semaphore_owner owner, const struct gr_context *context,
                                   const char *call);

/*
 * Waits until the streams have passed all that they were given of it; nothing where it is none that
 * was made so.
 */
void vk_host_semaphore_finish(gr_semaphore *semaphore);

/* The VkSemaphore; VK_NULL_HANDLE if this is no semaphore that was made so. */
VkSemaphore vk_semaphore_of_host(const gr_semaphore *semaphore);

#endif
