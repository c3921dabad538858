/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks and records the barriers between Vulkan and CUDA. */
#ifndef GR_VK_SYNC_BARRIER_H
#define GR_VK_SYNC_BARRIER_H

#include "vk/memory/resource.h"

/* The direction, and how Vulkan uses the resources. */
struct vk_handover {
    bool to_cuda;
    gr_vk_use use;   /* queue_family is ignored */
    uint32_t family; /* the Vulkan queue family */
    bool whole;      /* the commands may run later, so copy whole resources */
};

/*
 * Initialises *way from the application's struct `given`, which messages call `name`.
 * GR_ERR_INVALID_VALUE: `given` is NULL, has no stages, or names a queue family that the device
 * lacks. GR_ERR_UNSUPPORTED: `given` has bits that need synchronization2.
 */
gr_status vk_handover_init(struct vk_handover *way, const gr_vk_device *device,
                           const gr_vk_use *given, const char *name, const char *call);

/*
 * Checks that this barrier is valid for the resource. `i` is the index of the resource, for
 * messages.
 */
gr_status vk_handover_check(const struct vk_handover *way, const struct vk_resource *r, size_t i,
                            const char *call);

/* The maximum number of resources per barrier command: the barrier structs are on the stack. */
#define VK_BARRIERS_AT_ONCE 32

/* Records the barriers of up to VK_BARRIERS_AT_ONCE checked resources of one device. */
void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        const struct vk_resource *const list[], size_t n);

#endif
