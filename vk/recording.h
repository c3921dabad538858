/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* grinterop's own command buffers, two per submit, which are reused. */
#ifndef GR_VK_RECORDING_H
#define GR_VK_RECORDING_H

#include "vk/device.h"

/*
 * Two command buffers, and a timeline semaphore that the queue signals when it is done with them.
 */
struct vk_recording {
    struct vk_recording *next;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer first, last;
    VkSemaphore done;
    uint64_t value; /* of `done` after the last submit */
};

/*
 * Returns one for queues of that family whose last submit is complete. GR_ERR_UNSUPPORTED: the
 * device has no timeline semaphores.
 */
gr_status vk_recording_acquire(gr_vk_device *device, uint32_t family,
                               struct vk_recording **recording, const char *call);

/* Returns it to the device; `submitted` says whether a submit signals its next value. */
void vk_recording_release(gr_vk_device *device, struct vk_recording *recording, bool submitted);

#endif
