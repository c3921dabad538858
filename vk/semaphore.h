/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vulkan's semaphores: those that CUDA imports, and those that streams wait for and signal through
 * the host.
 */
#ifndef GR_VK_SEMAPHORE_H
#define GR_VK_SEMAPHORE_H

#include "lib/sync/semaphore.h"
#include "vk/check.h"
#include "vk/device.h"
#include "vk/error.h"

struct host_point;

/* A semaphore of Vulkan's, of both ways; the common part's operations tell which. */
struct vk_semaphore {
    gr_semaphore base;
    gr_vk_device *device; /* held */
    VkSemaphore semaphore;
    bool owned; /* the VkSemaphore is destroyed with it */

    /*
     * Through the host only. Host functions may run after the last hold is gone and must not call
     * CUDA, which dropping the device could do: so they have all that they need here.
     */
    struct vk_functions vk;
    VkDevice handle;
    pthread_mutex_t lock;     /* for what follows */
    struct host_point *spare; /* points that no stream has */
    size_t queued;            /* points that streams have */
    bool orphaned;            /* the last hold went while there were such */
    VkResult failure;         /* what a host function met, or VK_SUCCESS */
};

extern const struct gr_semaphore_ops vk_host_semaphore_ops;

/* Makes a zeroed semaphore's common part ready for the host's way, as gr_semaphore_init() does. */
gr_status vk_host_semaphore_init(struct vk_semaphore *s, const struct gr_context *context,
                                 uint64_t value, const char *call);

/*
 * The hook export_semaphore() of Vulkan's resources. GR_ERR_UNSUPPORTED: it is not one that was
 * exported.
 */
gr_status vk_semaphore_export(const gr_semaphore *semaphore, gr_semaphore_info *info);

#endif
