/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan submits with resources: their barriers, the command buffers that grinterop adds, and the
 * semaphores that they wait for and signal.
 */
#ifndef GR_VK_SUBMIT_SUBMIT_H
#define GR_VK_SUBMIT_SUBMIT_H

#include "lib/sync/sync.h"
#include "vk/device/device.h"

/* ---- Barriers -------------------------------------------------------------------------------- */

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

/* Refuses a way that has no layout for an image. `i` is the number of the resource in messages. */
gr_status vk_handover_check(const struct vk_handover *way, const gr_resource *resource, size_t i,
                            const char *call);

/* Records the barriers of checked resources of one device. */
void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        gr_resource *const resources[], size_t n);

/* ---- The command buffers of grinterop, two per submit, which are reused ---------------------- */

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
