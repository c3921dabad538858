/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A kernel fails while CUDA waits for a slot that Vulkan uses. Vulkan waits for CUDA's signal,
 * which never comes, so nothing would return the slot.
 */
#define _GNU_SOURCE
#include "ring_vulkan.h"

#include <unistd.h>

#include "tests/support/child_check.h"

GROUP("rings after a kernel that failed", add_vulkan_case)

/* A GPU takes about 0.3 s to report the failure, longer than a short timeout. */
static void wait_for_failure(void)
{
    while (fx.cu->StreamQuery(fx.stream) == CUDA_ERROR_NOT_READY)
        usleep(1000);
}

static int fail_on(gr_side producer, unsigned timeout_ms)
{
    const bool writes = producer == GR_SIDE_CUDA;
    const gr_slot *slot;
    leaves_all_open = true; /* CUDA drops the host functions, which leaks their arguments */
    fixture_setup();
    vulkan_setup();
    child_check(!vk.missing && !kernels_load());
    struct ring_sync sync = ring_sync_begin();
    gr_ring *ring = must_make_vulkan_ring(1, &sync, &GR_INIT(gr_ring_options, producer));
    struct vulkan_host *host = vulkan_host(RING_SIZE);
    if (!writes) {
        must_acquire_write(ring, producer, &slot, 1);
        submit_fill(&slot, 1, 1, NULL);
        assert_ok(gr_ring_hand_over(ring, &slot, 1));
    }
    (writes ? must_acquire_write : must_acquire_read)(ring, producer, &slot, 1);
    struct gate *gate = gate_put(fx.stream);
    kernel_fail(fx.stream);
    assert_ok((writes ? gr_ring_hand_over : gr_ring_give_back)(ring, &slot, 1));
    (writes ? must_acquire_read : must_acquire_write)(ring, producer, &slot, 1);
    if (writes)
        submit_read(&slot, 1, &host, NULL);
    else
        submit_fill(&slot, 1, 2, NULL);
    gate_open(gate);
    if (timeout_ms != GR_WAIT_FOREVER)
        wait_for_failure();
    gr_status status = (writes ? gr_ring_acquire_write
                               : gr_ring_acquire_read)(ring, fx.stream, &slot, 1, timeout_ms);
    child_check(status == GR_ERR_DEVICE_LOST);
    vulkan_finish();
    gr_ring_free(ring);
    ring_sync_end(&sync);
    return 0;
}

CHILD_TEST_UNLESS(vulkan_failures_missing(), a_failed_kernel_ends_the_wait_for_a_slot, 3)
{
    return fail_on(_i == 2 ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA, _i == 1 ? 20 : GR_WAIT_FOREVER);
}
