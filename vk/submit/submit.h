/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Vulkan submits with resources: their barriers, the command buffers that grinterop adds, and the
 * semaphores that they wait for and signal.
 */
#ifndef GR_VK_SUBMIT_SUBMIT_H
#define GR_VK_SUBMIT_SUBMIT_H

#include "lib/sync/sync.h"
#include "vk/memory/memory.h"

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
                           const gr_vk_use *given, const char *name);

/* Refuses a way that has no layout for an image. `i` is the number of the resource in messages. */
gr_status vk_handover_check(const struct vk_handover *way, const struct vk_resource *resource,
                            size_t i);

/* Records the barriers of checked resources of one device. */
void vk_handover_record(const struct vk_handover *way, VkCommandBuffer commands,
                        struct vk_resource *const resources[], size_t n);

/* ---- The command buffers of grinterop, two per submit, which are reused ---------------------- */

/* Two command buffers, and a timeline semaphore that the queue signals when it has run them. */
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
                               struct vk_recording **recording);

/*
 * Returns a recording to the device. `submitted` says whether a submit signals the next value of
 * the recording's semaphore.
 */
void vk_recording_release(gr_vk_device *device, struct vk_recording *recording, bool submitted);

/* ---- A submit: submit.c ---------------------------------------------------------------------- */

/* A submit in progress. The application itself submits what gr_vk_submit_fill() returns. */
struct vk_submit {
    gr_submit *submit;
    struct gr_submit_list list;
    const VkSubmitInfo2 *info;    /* of the application, or `converted`, or an empty one */
    VkSubmitInfo2 converted;      /* the VkSubmitInfo of the application */
    bool is_v1;                   /* the result is a VkSubmitInfo for vkQueueSubmit */
    VkPipelineStageFlags2 stages; /* the stages that wait for CUDA; 0: all */

    gr_vk_device *device; /* of the resources; NULL if there are none */

    /* Arrays in scratch memory of the submit. */
    struct vk_resource **resources;
    size_t resource_count;
    VkSemaphoreSubmitInfo *points; /* waits, then signals */
    VkCommandBufferSubmitInfo *buffers;
    uint64_t *values; /* this and the following ones are for vkQueueSubmit */
    VkSemaphore *semaphores;
    VkCommandBuffer *handles;
    VkPipelineStageFlags *wait_stages;

    /* For gr_vk_submit() only. */
    gr_vk_submit_desc desc;
    bool hands_over;          /* for gr_vk_hand_over() */
    struct vk_handover *ways; /* `first` and `last` of `desc`, then of each of its `uses` */
    const struct vk_handover **first_of, **last_of; /* of each resource; NULL: no barrier */
    bool has_first, has_last;
    uint32_t family;                /* of all barriers */
    struct vk_recording *recording; /* NULL if there are no barriers */

    /* The results. */
    VkSubmitInfo2 made;
    VkSubmitInfo v1;                          /* set for vkQueueSubmit */
    VkTimelineSemaphoreSubmitInfo *v1_values; /* in scratch memory */
};

/* ---- Its semaphores and command buffers: waits.c --------------------------------------------- */

/* Checks the semaphores of the submit itself. */
gr_status vk_submit_check_points(const struct vk_submit *m);

/* Copies the application's struct to m->made, with further waits, commands and signals. */
void vk_submit_add(struct vk_submit *m);

/* ---- VkSubmitInfo: v1.c ---------------------------------------------------------------------- */

/* Checks the struct of the application, and sets the counts of m->converted. */
gr_status vk_submit_check_v1(struct vk_submit *m, const VkSubmitInfo *v1);

/* Converts a checked struct to m->converted, with its lists in this memory. */
void vk_submit_convert_v1(struct vk_submit *m, const VkSubmitInfo *v1,
                          VkSemaphoreSubmitInfo points[], VkCommandBufferSubmitInfo buffers[]);

/* Refuses a struct that vkQueueSubmit cannot express. */
gr_status vk_submit_check_old(const VkSubmitInfo2 *info);

/* Converts m->made to m->v1. vkQueueSubmit signals after all commands, which may be later. */
void vk_submit_make_v1(struct vk_submit *m);

/* ---- Its resources: uses.c ------------------------------------------------------------------- */

/* Finds the barriers of each resource: none before the commands if Vulkan has the resource. */
gr_status vk_submit_take_uses(struct vk_submit *m);

/* Records the barriers. */
gr_status vk_submit_record(struct vk_submit *m);

/* Notes whether CUDA or Vulkan has each resource after the commit. */
void vk_submit_note_uses(const struct vk_submit *m);

#endif
