/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Vulkan semaphores imported into CUDA through an exported handle. */
#ifndef GR_VK_SYNC_SEMAPHORE_IMPORT_H
#define GR_VK_SYNC_SEMAPHORE_IMPORT_H

#include "lib/cuda/context.h"
#include "vk/device/device.h"

/*
 * Exports the VkSemaphore and makes a gr_semaphore of it. Unless the application owns the
 * VkSemaphore, the gr_semaphore destroys it. The gr_semaphore takes over references to the
 * context and, according to `owner`, to the device. After an error returns NULL, and nothing has
 * changed.
 */
gr_semaphore *vk_semaphore_import(gr_vk_device *device, const gr_vk_semaphore_desc *info,
                                  enum vk_semaphore_owner owner, const struct gr_context *context,
                                  const char *call);

/* Returns the VkSemaphore; VK_NULL_HANDLE for other kinds of semaphores. */
VkSemaphore vk_semaphore_imported(const gr_semaphore *semaphore);

/*
 * Implements export_semaphore() of Vulkan resources. GR_ERR_UNSUPPORTED: the semaphore was not
 * imported by an exported handle.
 */
gr_status vk_semaphore_export(const gr_semaphore *semaphore, gr_semaphore_desc *info,
                              const char *call);

#endif
