/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The command buffers of grinterop, two per submit, which are reused. */
#ifndef GR_VK_SYNC_RECORDING_H
#define GR_VK_SYNC_RECORDING_H

#include "vk/device/device.h"

/*
 * Two command buffers, and a timeline semaphore that the queue signals when it is done with the
 * buffers.
 */
struct vk_recording {
    struct vk_recording *next;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer first, last;
    VkSemaphore done;
    uint64_t value; /* the value of `done` after the last submit */
};

/*
 * Returns a recording for queues of that family. The last submit of the recording is complete.
 * GR_ERR_UNSUPPORTED: the device has no timeline semaphores.
 */
gr_status vk_recording_acquire(gr_vk_device *device, uint32_t family,
                               struct vk_recording **recording, const char *call);

/*
 * Returns a recording to the device. `submitted` says whether a submit signals the next value of
 * the recording's semaphore.
 */
void vk_recording_release(gr_vk_device *device, struct vk_recording *recording, bool submitted);

#endif
