/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the source files of test_vk_sync. */
#ifndef GR_TESTS_VK_SYNC_TESTS_H
#define GR_TESTS_VK_SYNC_TESTS_H

#include "tests/support/support_vulkan.h"

#define SIZE    65536
#define LATE_MS 60

/*
 * Two timeline semaphores. make_resource() creates a resource with such a pair or, to show a
 * missing order, without semaphores.
 */
struct pair {
    gr_semaphore *drawn, *computed;
};

struct pair make_pair(VkSemaphoreType type);
void free_pair(struct pair *pair);
gr_resource *make_resource(const struct pair *pair);

/* CUDA fills the resource, late. */
void fill_late(gr_resource *resource, int value, CUstream stream);

/* Vulkan reads the resource in a submit that has begun, after the waits of the submit. */
void check_read_after(gr_resource *resource, gr_submit *submit, int value);

uint64_t counter(const gr_semaphore *semaphore);

/* Vulkan fills the resource in a submit that has begun. The gate, unless it is NULL, blocks it. */
void fill_in(gr_submit *submit, gr_resource *resource, int value, const struct vulkan_gate *gate);

/* Begins a submit with one resource. */
gr_submit *begin_submit(gr_resource *resource);

#endif
