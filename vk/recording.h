/* SPDX-License-Identifier: Apache-2.0 */
/* Command buffers of grinterop's own, two for each submit, that are used again and again. */
#ifndef GR_VK_RECORDING_H
#define GR_VK_RECORDING_H

#include "vk/device.h"

/* Two command buffers, and the timeline that says when the queue is done with them. */
struct vk_recording {
    struct vk_recording *next;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer first, last;
    VkSemaphore done;
    uint64_t value; /* of `done` after the last submit */
};

/*
 * One for queues of that family, whose last submit has been done. GR_ERR_UNSUPPORTED: the device
 * has no timelines.
 */
gr_status vk_recording_take(gr_vk_device *device, uint32_t family, struct vk_recording **recording,
                            const char *call);

/* Gives it back; `submitted` says whether a submit signals its next value. */
void vk_recording_give(gr_vk_device *device, struct vk_recording *recording, bool submitted);

#endif
