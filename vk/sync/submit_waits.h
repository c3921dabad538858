/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Adds the waits and signals of a gr_submit to the application's VkSubmitInfo2. */
#ifndef GR_VK_SYNC_SUBMIT_WAITS_H
#define GR_VK_SYNC_SUBMIT_WAITS_H

#include <grinterop/submit.h>
#include <grinterop/vk.h>

/* Further waits, commands and signals to add. A struct of zeros adds nothing. */
struct vk_submit_extra {
    VkPipelineStageFlags2 stages; /* stages that wait for CUDA; 0: all */
    /* command buffers that are submitted before and after those of the application */
    VkCommandBuffer first, last;
    VkSemaphore done; /* a timeline semaphore that is signalled last */
    uint64_t value;
    /* the device that submits; without synchronization2, by vkQueueSubmit. NULL: the application */
    const gr_vk_device *device;
};

/* Arrays for the structs below, in scratch memory of the submit. */
struct vk_submit_arrays {
    VkSemaphoreSubmitInfo *waits, *signals;
    VkCommandBufferSubmitInfo *buffers;
    uint64_t *values;
    VkSemaphore *semaphores;
    VkCommandBuffer *handles;
    VkPipelineStageFlags *stages;
};

struct vk_submit_info {
    VkSubmitInfo2 info;
    struct vk_submit_arrays arrays;
    VkSubmitInfo old; /* set for vkQueueSubmit */
    VkTimelineSemaphoreSubmitInfo values;
};

/*
 * Fills made->info, and for vkQueueSubmit made->old. `info` is not modified and may be NULL.
 * GR_ERR_INVALID_VALUE: a wrong sType, or the submit has a semaphore that is not a Vulkan
 * semaphore. GR_ERR_UNSUPPORTED: vkQueueSubmit cannot express `info`, and the message names the
 * part. GR_ERR_NO_MEMORY.
 */
gr_status vk_submit_info_make(struct vk_submit_info *made, gr_submit *submit,
                              const VkSubmitInfo2 *info, const struct vk_submit_extra *extra,
                              const char *call);

#endif
