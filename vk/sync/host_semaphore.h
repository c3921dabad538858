/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Timeline semaphores through the host, for semaphores that cannot or should not be exported: a
 * host function in the stream waits and signals, in stream order. A wait blocks its own stream. It
 * may also block other streams, because the driver may run the host functions of several streams
 * one at a time; the software driver does not.
 */
#ifndef GR_VK_SYNC_HOST_SEMAPHORE_H
#define GR_VK_SYNC_HOST_SEMAPHORE_H

#include "lib/cuda/context.h"
#include "vk/device/device.h"

/* Wraps a VkSemaphore without exporting it. Otherwise like vk_semaphore_import(). */
gr_semaphore *vk_semaphore_by_host(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                   enum vk_semaphore_owner owner, const struct gr_context *context,
                                   const char *call);

/*
 * Waits until the streams have passed all waits and signals of the semaphore. Does nothing for
 * other semaphores.
 */
void vk_host_semaphore_finish(gr_semaphore *semaphore);

/*
 * Signals a timeline that has not reached the value. *now is the value before; UINT64_MAX if it is
 * unknown.
 */
VkResult vk_semaphore_raise(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                            uint64_t value, uint64_t *now);

/* Returns the VkSemaphore; VK_NULL_HANDLE for other kinds of semaphores. */
VkSemaphore vk_semaphore_of_host(const gr_semaphore *semaphore);

#endif
