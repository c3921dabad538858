/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that all files of the bench_vulkan probe share. */
#ifndef BENCH_VULKAN_PROBE_H
#define BENCH_VULKAN_PROBE_H

#include "bench/vulkan/vulkan.h"

enum { PROBE_COPIES = 64 };

/* The contents of a command buffer. */
enum probe_content { PROBE_EMPTY, PROBE_WORD, PROBE_COPY, PROBE_HANDED, PROBE_CONTENTS };

/* A separate Vulkan device for the probe, with vkQueueSubmit2 if the driver supports it. */
struct probe {
    struct vkb bench; /* has the handles of the probe's device; only its raw side has buffers */
    gr_vk_headless_info handles;
    bool has_submit2;
    PFN_vkQueueSubmit2KHR submit2;
    PFN_vkQueueWaitIdle wait_idle;
    VkSemaphore plain_wait, plain_signal; /* semaphores that are not exported */
    uint64_t plain_waited, plain_signalled;

    enum vkb_queue queue;
    VkCommandPool pool;
    VkCommandBuffer commands[PROBE_CONTENTS][PROBE_COPIES];
};

/* probe_device.c */
bool probe_open(struct probe *probe, const struct vkb *bench);
/* records the command buffers for the queue */
bool probe_choose_queue(struct probe *probe, enum vkb_queue queue);
void probe_close(struct probe *probe);

/* probe_round_trips.c */
bool probe_trips(struct probe *probe, bool quick);

#endif
