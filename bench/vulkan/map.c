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

static bool has_waits(const struct vkb_kind *kind)
{
    return kind->part != VKB_ROOM_RELEASE;
}

/* ---- By raw calls ---------------------------------------------------------------------------- */

bool vkb_map_raw(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    for (unsigned i = 0; has_waits(kind) && i < kind->points; i++)
        if (!vkb_raw_wait(bench, side, ++side->drawn))
            return false;
    for (unsigned i = 0; i < kind->points; i++)
        if (!vkb_raw_signal(bench, side, ++side->computed))
            return false;
    side->done[side->frames % VKB_FRAMES] = side->computed;
    return true;
}

/* ---- By grinterop ---------------------------------------------------------------------------- */

/*
 * Begins the Vulkan use that the next map waits for. The submit of an application would wait for
 * the last CUDA signal. The value of this signal shows when the previous frame is complete.
 */
static bool begin_use(struct vkb_side *side, unsigned first, unsigned n)
{
    gr_submit *submit = gr_submit_begin(side->resources + first, n);
    if (!submit)
        return bench_grinterop_failed("gr_submit_begin");
    side->drawn = submit->signal_values[0];
    if (side->frames > 0)
        side->done[(side->frames - 1) % VKB_FRAMES] = submit->wait_values[0];
    gr_status status = gr_submit_commit(submit);
    gr_submit_free(submit);
    return status == GR_OK || bench_grinterop_failed("gr_submit_commit");
}

static bool map_one(struct vkb *bench, struct vkb_side *side, unsigned i)
{
    side->mapped[i] = gr_map(side->resources[i], bench->on.stream);
    if (!side->mapped[i])
        return bench_grinterop_failed("gr_map");
    side->pointers[i] = gr_buffer_ptr(side->mapped[i]);
    return true;
}

bool vkb_map_singly_grinterop(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    for (unsigned i = 0; i < kind->resources; i++)
        if ((has_waits(kind) && !begin_use(side, i, 1)) || !map_one(bench, side, i))
            return false;
    for (unsigned i = 0; i < kind->resources; i++) {
        if (gr_buffer_release(side->mapped[i]) != GR_OK)
            return bench_grinterop_failed("gr_buffer_release");
        side->mapped[i] = NULL;
    }
    return true;
}

bool vkb_map_batch_grinterop(struct vkb *bench, struct vkb_side *side, const struct vkb_kind *kind)
{
    if (has_waits(kind) && !begin_use(side, 0, kind->resources))
        return false;
    if (gr_map_many(side->resources, kind->resources, bench->on.stream, NULL, side->mapped) !=
        GR_OK)
        return bench_grinterop_failed("gr_map_many");
    for (unsigned i = 0; i < kind->resources; i++)
        side->pointers[i] = gr_buffer_ptr(side->mapped[i]);
    if (gr_buffer_release_many(side->mapped, kind->resources, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return bench_grinterop_failed("gr_buffer_release_many");
    return true;
}
