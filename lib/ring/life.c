/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a ring, as the application calls it: made, resized, stopped, counted, freed. */
#include "lib/error.h"
#include "lib/ring/peer_link.h"
#include "lib/ring/slot_resources.h"

static gr_status check_options(const gr_ring_options *options, const char *call)
{
    bool side = options->producer == GR_SIDE_CUDA || options->producer == GR_SIDE_GRAPHICS;
    bool mode = options->mode == GR_RING_LOSSLESS || options->mode == GR_RING_NEWEST;
    if (side && mode)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`%s` is %d, which is none of its values.",
                   side ? "mode" : "producer", side ? (int)options->mode : (int)options->producer);
}

gr_ring *gr_ring_create(gr_resource *const resources[], size_t n, const gr_ring_options *options)
{
    static const gr_ring_options defaults;
    const gr_ring_options *o = options ? options : &defaults;
    if (check_options(o, __func__) != GR_OK ||
        gr_ring_check_resources(resources, n, NULL, __func__) != GR_OK)
        return NULL;
    gr_ring *ring = gr_ring_make_empty(o, __func__);
    if (!ring)
        return NULL;
    if (gr_ring_side_reserve(&ring->writer, n, __func__) == GR_OK &&
        gr_ring_side_reserve(&ring->reader, n, __func__) == GR_OK &&
        gr_ring_add_slots(ring, resources, n, __func__) == GR_OK)
        return ring;
    gr_ring_free(ring);
    return NULL;
}

void gr_ring_free(gr_ring *ring)
{
    if (!ring)
        return;
    /* First: the driver may end slots only when no stream waits for the peer. */
    gr_link_end(ring->link);
    gr_ring_end_all(ring);
    gr_ring_free_empty(ring);
}

void gr_ring_at_scope_end(gr_ring **ring)
{
    gr_ring_free(*ring);
    *ring = NULL;
}

gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n)
{
    gr_status status = gr_ring_check(ring, __func__);
    if (status != GR_OK)
        return status;
    pthread_mutex_lock(&ring->lock);
    status = ring->link
                 ? gr_fail(GR_ERR_STATE, __func__,
                           "The ring is shared with another process, and keeps its slots.")
                 : gr_ring_check_resources(resources, n, gr_ring_any_resource(ring), __func__);
    if (status == GR_OK)
        status = gr_ring_add_slots(ring, resources, n, __func__);
    pthread_cond_broadcast(&ring->changed);
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
    ring->state->stopped = 1;
    gr_link_stop(ring->link);
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

void gr_ring_get_info(gr_ring *ring, gr_ring_info *counts)
{
    if (!counts)
        return;
    *counts = (gr_ring_info){0};
    if (!ring)
        return;
    pthread_mutex_lock(&ring->lock);
    gr_ring_state_count(ring->state, counts);
    pthread_mutex_unlock(&ring->lock);
}
