/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of Vulkan buffers, for the parts of test_ring that have two queues of work or two threads.
 */
#ifndef GR_TESTS_RING_VULKAN_H
#define GR_TESTS_RING_VULKAN_H

#include "ring.h"
#include "tests/support/support_vulkan.h"

/* The two semaphores of the case's rings: Vulkan's, and CUDA's. */
struct ring_sync {
    gr_semaphore *acquire, *release;
};
struct ring_sync ring_sync_begin(void);
void ring_sync_end(struct ring_sync *sync);

/* n buffers with them; valid until the next call. */
gr_resource *const *ring_vulkan_resources(size_t n, const struct ring_sync *sync);

/* A ring of n such buffers. */
gr_ring *must_make_vulkan_ring(size_t n, const struct ring_sync *sync,
                               const gr_ring_options *options);

/*
 * Submits what Vulkan does with n slots of one acquire: fills them with values that begin with
 * `value`, or copies them to the host's buffers; and commits. The gate, if there is one, holds it
 * up.
 */
void submit_fill(const gr_slot *const slots[], size_t n, int value, const struct vulkan_gate *gate);
void submit_read(const gr_slot *const slots[], size_t n, struct vulkan_host *const to[],
                 const struct vulkan_gate *gate);

#endif
