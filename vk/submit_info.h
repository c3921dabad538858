/* SPDX-License-Identifier: Apache-2.0 */
/* The application's VkSubmitInfo2 with what a gr_submit waits for and signals added to it. */
#ifndef GR_VK_SUBMIT_INFO_H
#define GR_VK_SUBMIT_INFO_H

#include <grinterop/submit.h>
#include <grinterop/vk.h>

/* What else is added. All 0 adds nothing. */
struct vk_submit_extra {
    VkPipelineStageFlags2 stages; /* which wait for CUDA; 0: all */
    VkCommandBuffer first, last;  /* around the application's */
    VkSemaphore done;             /* a timeline, signalled last */
    uint64_t value;
};

/* The parts of the structs below, in memory of the submit's. */
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
    VkSubmitInfo old; /* by vk_submit_info_translate() */
    VkTimelineSemaphoreSubmitInfo values;
};

/*
 * Fills made->info. `info` may be NULL; it is read only. GR_ERR_INVALID_VALUE: its sType, or a
 * semaphore of the submit that is none of Vulkan's; GR_ERR_NO_MEMORY.
 */
gr_status vk_submit_info_make(struct vk_submit_info *made, gr_submit *submit,
                              const VkSubmitInfo2 *info, const struct vk_submit_extra *extra,
                              const char *call);

/* Whether vkQueueSubmit can say it; GR_ERR_UNSUPPORTED names what it cannot. */
gr_status vk_submit_info_check_old(const VkSubmitInfo2 *info, const char *call);

/* Fills made->old from made->info. */
void vk_submit_info_translate(struct vk_submit_info *made, bool has_timeline);

#endif
