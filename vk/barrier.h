/* SPDX-License-Identifier: Apache-2.0 */
/* The barriers between Vulkan and CUDA, checked and recorded in two steps. */
#ifndef GR_VK_BARRIER_H
#define GR_VK_BARRIER_H

#include "vk/resource.h"

/* One way of the two, and how Vulkan uses the resources on its side. */
struct vk_handover {
    bool to_cuda;
    gr_vk_use use;   /* its queue_family is not looked at */
    uint32_t family; /* the queue family on Vulkan's side */
};

/*
 * Takes a use as the application gave it, which calls it `name`. GR_ERR_INVALID_VALUE: NULL, no
 * stages, a family that the device does not have; GR_ERR_UNSUPPORTED: bits that need
 * synchronization2.
 */
gr_status vk_handover_take(struct vk_handover *way, const gr_vk_device *device,
                           const gr_vk_use *given, const char *name, const char *call);

/* Whether the resource can have that barrier; `i` is its number in messages. */
gr_status vk_handover_check(const struct vk_handover *way, const struct vk_resource *r, size_t i,
                            const char *call);

/* Resources in one command: their barriers lie on the stack. */
#define VK_BARRIERS_AT_ONCE 32

/* Records the barriers of at most so many resources of one device, which were checked. */
void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        const struct vk_resource *const list[], size_t n);

#endif
