/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One frame of map, pointer and release. A map waits for the Vulkan semaphore and a release signals
 * the CUDA semaphore: one wait and signal per resource (singly: all are mapped, then all are
 * released), or one wait and signal for all (batch). The host signals the awaited values in
 * advance, so that the numbers include no Vulkan submit; "release only" has nothing to wait for.
 *
 * The grinterop side does what an application does: it begins a submit for each use by Vulkan.
 */
#define _GNU_SOURCE
#include "bench/vulkan/vulkan.h"

static void raw(struct vkb_side *side, const struct vkb_kind *kind)
{
    for (unsigned i = 0; kind->part == VKB_BOTH && i < kind->points; i++)
        vkb_raw_wait(side, ++side->drawn);
    for (unsigned i = 0; i < kind->points; i++)
        vkb_raw_signal(side, ++side->computed);
    side->done[side->frames % VKB_FRAMES] = side->computed;
}

/*
 * Begins the Vulkan use that the next map waits for. The submit of an application would wait for
 * the last CUDA signal. The value of this signal shows when the previous frame is complete.
 */
static void begin_use(struct vkb_side *side, unsigned first, unsigned n)
{
    gr_submit *submit;
    GR_NEW(submit, submit_begin, side->resources + first, n);
    side->drawn = submit->signal_values[0];
    if (side->frames > 0)
        side->done[(side->frames - 1) % VKB_FRAMES] = submit->wait_values[0];
    GR(submit_commit, submit);
    gr_submit_free(submit);
}

static void singly(struct vkb_side *side, const struct vkb_kind *kind)
{
    gr_buffer *mapped[VKB_RESOURCES];
    for (unsigned i = 0; i < kind->resources; i++) {
        if (kind->part == VKB_BOTH)
            begin_use(side, i, 1);
        GR_NEW(mapped[i], map, side->resources[i], vkb.on.stream);
        side->pointers[i] = gr_buffer_ptr(mapped[i]);
    }
    for (unsigned i = 0; i < kind->resources; i++)
        GR(buffer_release, mapped[i]);
}

static void batch(struct vkb_side *side, const struct vkb_kind *kind)
{
    const unsigned n = kind->resources;
    gr_buffer *mapped[VKB_RESOURCES];
    if (kind->part == VKB_BOTH)
        begin_use(side, 0, n);
    GR(map_many, side->resources, n, vkb.on.stream, NULL, mapped);
    for (unsigned i = 0; i < n; i++)
        side->pointers[i] = gr_buffer_ptr(mapped[i]);
    GR(buffer_release_many, mapped, n, GR_STREAM_OF_MAP, NULL);
}

/* Drained blocks are so short that they never wait for room in the CUDA queue. */
#define ROW(name, what, of, title, grinterop, resource_count, point_count, frames)                 \
    {                                                                                              \
        .row = {name, what, "Map and release, " title ", room in the queues: CPU time",            \
                vkb_measure},                                                                      \
        .part = of, .frame = {raw, grinterop}, .resources = resource_count, .points = point_count, \
        .room_frames = frames, .paced_by_release = true, .submits = 1, .copies = 1                 \
    }

const struct vkb_kind vkb_map_rows[] = {
#define ROWS(prefix, of, title)                                                                    \
    ROW(prefix "/one", "one resource", of, title, singly, 1, 1, 32),                               \
        ROW(prefix "/singly", "32 singly", of, title, singly, 32, 32, 1),                          \
        ROW(prefix "/batch", "32 in one batch", of, title, batch, 32, 1, 16)
    ROWS("release", VKB_RELEASE, "release semaphore only"),
    ROWS("both", VKB_BOTH, "both semaphores"),
    {.part = 0},
};
