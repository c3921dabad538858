/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The semaphores between Vulkan and CUDA. */
#ifndef GR_VK_SYNC_SYNC_H
#define GR_VK_SYNC_SYNC_H

#include "lib/sync/sync.h"
#include "vk/device/device.h"

/* ---- Semaphores ------------------------------------------------------------------------------ */

/* A Vulkan semaphore that CUDA imported. The struct of one through the host begins with it. */
struct vk_semaphore {
    gr_semaphore base;
    gr_vk_device *device; /* held according to `owner` */
    VkSemaphore semaphore;
    enum vk_semaphore_owner owner;
};

/* The operation describe() of both kinds, which identifies them. */
void vk_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size);

/* Casts a semaphore made in vk/; NULL for any other semaphore. */
static inline struct vk_semaphore *vk_semaphore_of(const gr_semaphore *semaphore)
{
    return semaphore->ops->describe == vk_semaphore_describe ? (struct vk_semaphore *)semaphore
                                                             : NULL;
}

/*
 * Implements gr_semaphore_create_vk() with checked arguments, for any owner except the application.
 * Does not count as a use of the device.
 */
gr_semaphore *vk_semaphore_create(gr_vk_device *device, VkSemaphoreType type,
                                  enum vk_semaphore_owner owner);

/* Creates a VkSemaphore that the caller owns; `exportable` by GR_VK_SEMAPHORE_HANDLE. */
gr_status vk_semaphore_new(const gr_vk_device *device, VkSemaphoreType kind, bool exportable,
                           VkSemaphore *semaphore);

/*
 * The operation export_semaphore() of Vulkan resources. GR_ERR_UNSUPPORTED: the semaphore was not
 * imported by an exported handle.
 */
gr_status vk_semaphore_export(const gr_resource *resource, const gr_semaphore *semaphore,
                              gr_semaphore_desc *info);

/*
 * Returns the pair of the device, which the first call creates. If the device has no timeline
 * semaphores, returns GR_OK and NULL. The device owns the pair.
 */
gr_status vk_pair_get(gr_vk_device *device, struct gr_semaphore_pair **pair);

/* Returns the pair of the device, or NULL if it has not been created. */
struct gr_semaphore_pair *vk_pair_now(gr_vk_device *device);

/* ---- Operations of both kinds: semaphore_operations.c ---------------------------------------- */

/* The reference of the application is a use of the device. */
void vk_semaphore_free(gr_semaphore *semaphore);
bool vk_semaphore_value(const gr_semaphore *semaphore, uint64_t *now);

/*
 * Signals a timeline that has not reached the value. *now is the value before; UINT64_MAX if it is
 * unknown.
 */
VkResult vk_semaphore_raise(const struct vk_functions *vk, VkDevice device, VkSemaphore semaphore,
                            uint64_t value, uint64_t *now);

/* ---- Semaphores through the host: host_semaphore.c ------------------------------------------- */

/*
 * Makes a timeline semaphore through the host like `draft`, with the value that it has reached.
 * On success it owns the VkSemaphore unless the application does, and the reference to the context.
 * After an error, which is recorded, returns NULL.
 */
gr_semaphore *vk_semaphore_by_host(const struct vk_semaphore *draft, uint64_t value,
                                   const struct gr_context *context);

#endif
