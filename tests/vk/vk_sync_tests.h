/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_vk_sync.c. */
#ifndef GR_TESTS_VK_SYNC_TESTS_H
#define GR_TESTS_VK_SYNC_TESTS_H

#include "tests/support/support_vulkan.h"

#define SIZE    65536
#define LATE_MS 60

/* Two timeline semaphores; and a resource with them or, to show a missing order, without. */
struct pair {
    gr_semaphore *drawn, *computed;
};

struct pair make_pair(VkSemaphoreType type);
void free_pair(struct pair *pair);
gr_resource *make_resource(const struct pair *pair);

/* CUDA fills the resource, late. */
void fill_late(gr_resource *resource, int value, CUstream stream);

/* Vulkan reads the resource after the waits of the submit, which has begun. */
void check_read_after(gr_resource *resource, gr_submit *submit, int value);

uint64_t counter(const gr_semaphore *semaphore);

/* Begins a use of one resource. */
gr_submit *begin_submit(gr_resource *resource);

#endif
