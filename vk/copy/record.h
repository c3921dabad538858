/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Records the Vulkan side of the copy transport, for checked resources of one device. */
#ifndef GR_VK_COPY_RECORD_H
#define GR_VK_COPY_RECORD_H

#include "vk/copy/copy.h"
#include "vk/resource.h"

/* Whether the resource is copied, and open. */
static inline bool vk_is_copied(const struct vk_resource *r)
{
    return vk_copy_of(&r->external);
}

/*
 * Copies what CUDA reads to staging memory, for the host. The barriers before it made the objects
 * readable for transfers.
 */
void vk_copy_record_fetch(VkCommandBuffer commands, const struct vk_resource *const list[],
                          size_t n);

/*
 * Copies what CUDA wrote to the objects: what they are owed, or with `all` everything, because the
 * commands may run later and more than once. A barrier after it makes the objects usable.
 */
void vk_copy_record_store(VkCommandBuffer commands, const struct vk_resource *const list[],
                          size_t n, bool all);

#endif
