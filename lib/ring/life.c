/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The public functions for the life of a ring: create, resize, stop, get_info, free. */
#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/ring/descriptor.h"
#include "lib/peer/link.h"
#include "lib/ring/slot_end.h"
#include "lib/ring/slot_resources.h"
#include "lib/ring/notify.h"
#include "lib/base/struct_size.h"

static gr_status check_options(const gr_ring_options *options, const char *call)
{
    bool side = options->producer == GR_SIDE_CUDA || options->producer == GR_SIDE_GRAPHICS;
    bool mode = options->mode == GR_RING_LOSSLESS || options->mode == GR_RING_NEWEST;
    if (side && mode)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`%s` is %d, which is not a valid value: pass %s.",
                   side ? "mode" : "producer", side ? (int)options->mode : (int)options->producer,
                   side ? "GR_RING_LOSSLESS or GR_RING_NEWEST"
                        : "GR_SIDE_CUDA or GR_SIDE_GRAPHICS");
}

gr_ring *gr_ring_create(gr_resource *const resources[], size_t n, const gr_ring_options *options)
{
    gr_ring_options own;
    if (GR_TAKE(gr_ring_options, &own, options, __func__) != GR_OK ||
        check_options(&own, __func__) != GR_OK ||
        gr_ring_check_resources(resources, n, NULL, __func__) != GR_OK)
        return NULL;
    gr_ring *ring = gr_ring_make_empty(&own, __func__);
    if (!ring)
        return NULL;
    gr_live_add(GR_LIVE_RING, ring);
    if (gr_ring_add_slots(ring, resources, n, __func__) == GR_OK)
        return ring;
    gr_ring_free(ring);
    return NULL;
}

void gr_ring_free(gr_ring *ring)
{
    if (!ring || !gr_live_end(GR_LIVE_RING, ring, __func__))
        return;
    /*
     * The link ends first, because the driver can end slots only when no stream waits for the peer.
     */
    gr_link_end(ring->link);
    gr_ring_end_all(ring);
    gr_ring_end_descriptors(ring);
    gr_ring_free_empty(ring);
}

static gr_status check_own(const gr_ring *ring, const char *call)
{
    if (!ring->link && !ring->is_sending)
        return GR_OK;
    return gr_fail(
        GR_ERR_STATE, call,
        "The ring is %s another process and cannot be resized: create another ring, and send that.",
        ring->link ? "shared with" : "being sent to");
}

gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n)
{
    GR_TRY(gr_ring_check(ring, __func__));
    gr_ring_end_left(ring); /* makes room, if the work of earlier slots is done */
    pthread_mutex_lock(&ring->lock);
    gr_status status = check_own(ring, __func__);
    if (status == GR_OK)
        status = gr_ring_check_resources(resources, n, ring, __func__);
    if (status == GR_OK)
        status = gr_ring_add_slots(ring, resources, n, __func__);
    gr_ring_notify(ring);
    pthread_mutex_unlock(&ring->lock);
    if (status == GR_OK)
        gr_ring_end_left(ring);
    return status;
}

void gr_ring_stop(gr_ring *ring)
{
    if (!ring)
        return;
    pthread_mutex_lock(&ring->lock);
    ring->state.stopped = true;
    gr_link_stop(ring->link);
    gr_ring_notify(ring);
    pthread_mutex_unlock(&ring->lock);
}

const gr_ring_info *gr_ring_get_info(gr_ring *ring)
{
    static _Thread_local gr_ring_info info;
    if (gr_ring_check(ring, __func__) != GR_OK)
        return NULL;
    pthread_mutex_lock(&ring->lock);
    gr_ring_state_info(&ring->state, &info);
    pthread_mutex_unlock(&ring->lock);
    return &info;
}
