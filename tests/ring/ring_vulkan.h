/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings of Vulkan buffers, for the parts of test_ring that use a CUDA stream and a Vulkan queue, or
 * two threads.
 */
#ifndef GR_TESTS_RING_VULKAN_H
#define GR_TESTS_RING_VULKAN_H

#include "ring.h"
#include "tests/support/support_vulkan.h"

/* The two semaphores of the case's rings: signalled by Vulkan and by CUDA. */
struct ring_sync {
    gr_semaphore *acquire, *release;
};
struct ring_sync ring_sync_begin(void);
void ring_sync_end(struct ring_sync *sync);

/* Creates n buffers with this pair of semaphores. The array is valid until the next call. */
gr_resource *const *ring_vulkan_resources(size_t n, const struct ring_sync *sync);

/* Creates a ring of n such buffers. */
gr_ring *must_make_vulkan_ring(size_t n, const struct ring_sync *sync,
                               const gr_ring_options *options);

/*
 * Submits Vulkan's work on n slots of one acquire, and commits it. The work fills the slots with
 * values from `value` on, or copies them to host buffers. The gate, unless it is NULL, blocks the
 * submit.
 */
void submit_fill(const gr_slot *const slots[], size_t n, int value, const struct vulkan_gate *gate);
void submit_read(const gr_slot *const slots[], size_t n, struct vulkan_host *const to[],
                 const struct vulkan_gate *gate);

#endif
