/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan's semaphores that CUDA imports: Vulkan exports their handle. */
#ifndef GR_VK_SEMAPHORE_IMPORT_H
#define GR_VK_SEMAPHORE_IMPORT_H

#include "lib/context.h"
#include "vk/device.h"

/*
 * Exports the VkSemaphore and makes a semaphore of it, which ends the VkSemaphore too unless it is
 * the application's. On success it owns the context's hold; after an error, with NULL, all is as it
 * was.
 */
gr_semaphore *vk_semaphore_import(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                  enum vk_semaphore_owner owner, const struct gr_context *context,
                                  const char *call);

/* The VkSemaphore; VK_NULL_HANDLE if this is no semaphore that was imported so. */
VkSemaphore vk_semaphore_imported(const gr_semaphore *semaphore);

/*
 * For the hook export_semaphore() of Vulkan's resources. GR_ERR_UNSUPPORTED: it is not one that was
 * exported.
 */
gr_status vk_semaphore_export(const gr_semaphore *semaphore, gr_semaphore_desc *info,
                              const char *call);

#endif
