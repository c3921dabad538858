/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The life of a ring: create, resize, stop, free; and what wakes those who wait for it. */
#include "lib/ring/ring.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/fork.h"
#include "lib/base/live_objects.h"
#include "lib/base/lock.h"
#include "lib/base/struct_size.h"
#include "lib/cuda/context.h"
#include "lib/ring/link/operations.h"
#include "lib/ring/slot_life.h"

/* ---- Wake-ups -------------------------------------------------------------------------------- */

void gr_ring_notify(gr_ring *ring)
{
    gr_condition_wake(&ring->changed);
    gr_ring_update_pollers(ring);
}

void gr_ring_peer_changed(gr_ring *ring)
{
    GR_LOCKED(&ring->lock);
    gr_ring_notify(ring);
}

/* ---- Create and free ------------------------------------------------------------------------- */

static bool init_lock(gr_ring *ring)
{
    if (!gr_lock_init(&ring->lock, GR_LOCK_RING))
        return false;
    if (gr_condition_init(&ring->changed))
        return true;
    gr_lock_end(&ring->lock);
    return false;
}

/* Creates a ring without slots. */
static gr_ring *make_empty(const gr_ring_options *options)
{
    gr_ring *ring = calloc(1, sizeof(*ring));
    if (!ring || !init_lock(ring)) {
        free(ring);
        gr_fail_memory();
        return NULL;
    }
    ring->descriptors[0].fd = ring->descriptors[1].fd = -1;
    ring->writer.writes = true;
    ring->writer.is_cuda = options->producer == GR_SIDE_CUDA;
    ring->reader.is_cuda = !ring->writer.is_cuda;
    ring->link_ops = &gr_link_unshared;
    ring->state.newest = options->mode == GR_RING_NEWEST;
    return ring;
}

static gr_status check_options(const gr_ring_options *options)
{
    bool side = options->producer == GR_SIDE_CUDA || options->producer == GR_SIDE_GRAPHICS;
    bool mode = options->mode == GR_RING_LOSSLESS || options->mode == GR_RING_NEWEST;
    if (side && mode)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, "`%s` is %d, which is not a valid value: pass %s.",
                   side ? "mode" : "producer", side ? (int)options->mode : (int)options->producer,
                   side ? "GR_RING_LOSSLESS or GR_RING_NEWEST"
                        : "GR_SIDE_CUDA or GR_SIDE_GRAPHICS");
}

gr_ring *gr_ring_create(gr_resource *const resources[], size_t n, const gr_ring_options *options)
{
    GR_CALL();
    gr_ring_options own;
    if (GR_TAKE(gr_ring_options, &own, options) != GR_OK || check_options(&own) != GR_OK ||
        gr_ring_check_resources(resources, n, NULL) != GR_OK)
        return NULL;
    gr_ring *ring = make_empty(&own);
    if (!ring)
        return NULL;
    gr_live_add(GR_LIVE_RING, ring);
    if (gr_ring_add_slots(ring, resources, n) == GR_OK)
        return ring;
    GR_KEEP_ERROR();
    gr_ring_free(ring);
    return NULL;
}

void gr_ring_free(gr_ring *ring)
{
    GR_CALL();
    if (!ring || !gr_live_end(GR_LIVE_RING, ring))
        return;
    GR_NO_STATUS();
    GR_RELAXED();
    /*
     * The link ends first, because the driver can end slots only when no stream waits for the peer.
     */
    ring->link_ops->end(ring->link);
    gr_ring_end_all(ring);
    gr_ring_end_descriptors(ring);
    gr_condition_end(&ring->changed);
    gr_lock_end(&ring->lock);
    gr_live_free_memory(GR_LIVE_RING, ring);
}

/* ---- Resize, stop and query ------------------------------------------------------------------ */

static gr_status check_own(const gr_ring *ring)
{
    if (!ring->link && !ring->is_sending)
        return GR_OK;
    return gr_fail(
        GR_ERR_STATE,
        "The ring is %s another process and cannot be resized: create another ring, and send that.",
        ring->link ? "shared with" : "being sent to");
}

gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    gr_ring_end_left(ring); /* makes room, if the work of earlier slots is done */
    gr_lock(&ring->lock);
    gr_status status = check_own(ring);
    if (status == GR_OK)
        status = gr_ring_check_resources(resources, n, ring);
    if (status == GR_OK)
        status = gr_ring_add_slots(ring, resources, n);
    gr_ring_notify(ring);
    gr_ring_unlock_and_end_left(ring);
    return status;
}

void gr_ring_stop(gr_ring *ring)
{
    GR_CALL();
    if (!ring || gr_forked)
        return;
    if (gr_ring_check(ring) != GR_OK) {
        gr_error_show(__func__);
        return;
    }
    GR_LOCKED(&ring->lock);
    ring->state.stopped = true;
    ring->link_ops->stop(ring->link);
    gr_ring_notify(ring);
}

const gr_ring_info *gr_ring_get_info(gr_ring *ring)
{
    GR_CALL();
    static _Thread_local gr_ring_info info;
    if (gr_ring_check(ring) != GR_OK)
        return NULL;
    GR_LOCKED(&ring->lock);
    ring->link_ops->refresh(ring->link);
    gr_ring_state_info(&ring->state, &info);
    /* 0 for a time that is unknown, or that a peer has made up */
    const uint64_t now = gr_clock_ns(), time = ring->state.newest_at;
    info.newest_age_ns = time == 0 || time > now ? 0 : now - time + (now == time);
    return &info;
}
