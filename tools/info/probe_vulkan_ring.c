/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe of a ring of Vulkan's buffers: CUDA writes frames, Vulkan copies each to its place in
 * one buffer, which CUDA reads in the end.
 */
#include "tools/info/probe_vulkan_ring.h"

#include <grinterop/ring.h>

#include "tools/info/make_ring.h"
#include "tools/info/probe_cuda.h"
#include "tools/info/say.h"

struct maker {
    struct probe_try *t;
    const struct probe_vulkan *vk;
};

static gr_resource *make_slot(void *its)
{
    const struct maker *maker = its;
    gr_resource *slot = probe_vulkan_buffer(maker->t, maker->vk, PROBE_FRAME_BYTES);
    say_step("the making of the ring");
    return slot;
}

static bool read_frame(struct probe_try *t, const struct probe_vulkan *vk, gr_ring *ring,
                       gr_resource *all, size_t frame)
{
    const VkBufferCopy part = {.dstOffset = frame * PROBE_FRAME_BYTES, .size = PROBE_FRAME_BYTES};
    const gr_slot *slot;
    VkCommandBuffer commands = probe_vulkan_begin(t, vk);
    say_step("gr_ring_acquire_read()");
    if (!commands)
        return false;
    if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, PROBE_RING_MS) != GR_OK)
        return probe_error(t);
    vk->CmdCopyBuffer(commands, gr_vk_buffer(slot->resource), gr_vk_buffer(all), 1, &part);
    bool good = probe_vulkan_submit(t, vk, slot->submit, commands);
    if (!good) {
        gr_ring_cancel_read(ring, &slot, 1);
        return false;
    }
    say_step("gr_ring_give_back()");
    return gr_ring_give_back(ring, &slot, 1) == GR_OK || probe_error(t);
}

/* Hands the buffer, which has been Vulkan's alone, to CUDA, which reads it. */
static bool read_all(struct probe_try *t, const struct probe_vulkan *vk, gr_resource *all)
{
    GR_AUTO(gr_submit) *begun = gr_submit_begin(&all, 1);
    if (!begun)
        return probe_error(t);
    return probe_vulkan_submit(t, vk, begun, VK_NULL_HANDLE) && probe_read(t, all) &&
           probe_same(t, "Vulkan's copy", "CUDA", PROBE_BUFFER_BYTES);
}

bool probe_vulkan_ring(struct probe_try *t, const struct probe_vulkan *vk)
{
    struct maker maker = {t, vk};
    gr_ring *ring = make_ring(PROBE_SLOTS, make_slot, &maker);
    gr_resource *all = ring ? probe_vulkan_buffer(t, vk, PROBE_BUFFER_BYTES) : NULL;
    if (!ring)
        probe_not_made(t);
    bool good = all;
    probe_pattern(t, 0);
    for (size_t i = 0; good && i < PROBE_FRAMES + PROBE_AHEAD; i++)
        good = (i >= PROBE_FRAMES || probe_write_frame(t, ring, i)) &&
               (i < PROBE_AHEAD || read_frame(t, vk, ring, all, i - PROBE_AHEAD));
    good = good && read_all(t, vk, all);
    say_step("the end of the ring");
    vk->QueueWaitIdle(vk->made->graphics);
    gr_ring_free(ring);
    gr_resource_free(all);
    return good;
}
