/* SPDX-License-Identifier: Apache-2.0 */
/* The files of test_vk_sync.c. */
#ifndef GR_TESTS_VK_SYNC_TESTS_H
#define GR_TESTS_VK_SYNC_TESTS_H

#include "tests/support/support_vulkan.h"

#define SIZE 65536

/* Two timelines, and a resource that has them or, so that a missing order shows, has not. */
struct pair {
    gr_semaphore *drawn, *computed;
};

struct pair make_pair(VkSemaphoreType type);
void free_pair(struct pair *pair);
gr_resource *make_resource(const struct pair *pair);

/* Begins a use of one resource. */
gr_submit *begin_submit(gr_resource *resource);

#endif
