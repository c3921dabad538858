/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Rings of Vulkan buffers; see ring_vulkan.h. */
#include "ring_vulkan.h"

struct ring_sync ring_sync_begin(void)
{
    struct ring_sync sync = {.acquire = gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE),
                             .release =
                                 gr_semaphore_create_vk(vk.wrap, VK_SEMAPHORE_TYPE_TIMELINE)};
    assert_made(sync.acquire);
    assert_made(sync.release);
    return sync;
}

void ring_sync_end(struct ring_sync *sync)
{
    gr_semaphore_free(sync->acquire);
    gr_semaphore_free(sync->release);
}

gr_resource *const *ring_vulkan_resources(size_t n, const struct ring_sync *sync)
{
    static gr_resource *made[RING_SLOTS];
    ck_assert_uint_le(n, RING_SLOTS);
    for (size_t i = 0; i < n; i++) {
        made[i] = must_create(RING_SIZE, GR_READ_WRITE);
        vulkan_fill(gr_vk_buffer(made[i]), RING_SIZE, 0);
        if (sync)
            assert_ok(gr_resource_set_sync(made[i], sync->acquire, sync->release));
    }
    return made;
}

gr_ring *must_make_vulkan_ring(size_t n, const struct ring_sync *sync,
                               const gr_ring_options *options)
{
    gr_resource *const *resources = ring_vulkan_resources(n, sync);
    gr_ring *ring = must_make(gr_ring_create(resources, n, options));
    free_resources(resources, n);
    return ring;
}

void submit_fill(const gr_slot *const slots[], size_t n, int value, const struct vulkan_gate *gate)
{
    VkCommandBuffer commands = vulkan_begin();
    for (size_t i = 0; i < n; i++)
        vulkan_cmd_fill(commands, gr_vk_buffer(slots[i]->resource), RING_SIZE, value + (int)i);
    vulkan_submit_slot(commands, slots[n - 1], gate);
}

void submit_read(const gr_slot *const slots[], size_t n, struct vulkan_host *const to[],
                 const struct vulkan_gate *gate)
{
    VkCommandBuffer commands = vulkan_begin();
    for (size_t i = 0; i < n; i++)
        vulkan_cmd_read(commands, gr_vk_buffer(slots[i]->resource), to[i]);
    vulkan_submit_slot(commands, slots[n - 1], gate);
}
