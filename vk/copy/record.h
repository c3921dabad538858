/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records the Vulkan side of the copy transport, for checked resources of one device. */
#ifndef GR_VK_COPY_RECORD_H
#define GR_VK_COPY_RECORD_H

#include "vk/copy/copy.h"
#include "vk/memory/resource.h"

/* Whether the resource is copied, and not closed. */
static inline bool vk_is_copied(const struct vk_resource *r)
{
    return vk_copy_of(&r->external);
}

/*
 * Copies the objects that CUDA reads to staging memory, and makes the bytes visible to the host.
 * Staging memory on a GPU needs no barrier, because the semaphores make its bytes visible. Barriers
 * recorded before must make the objects readable by transfers.
 */
void vk_copy_record_fetch(VkCommandBuffer commands, const struct vk_resource *const list[],
                          size_t n);

/*
 * Copies from staging memory to the objects that CUDA writes. Without `all`, copies only the bytes
 * that the objects do not have yet. `all` is for commands that may run later and more than once. A
 * barrier recorded afterwards must make the objects usable.
 */
void vk_copy_record_store(VkCommandBuffer commands, const struct vk_resource *const list[],
                          size_t n, bool all);

#endif
