/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a ring: made, resized, stopped, counted, freed. */
#define _POSIX_C_SOURCE 200809L
#include "lib/ring/ring.h"

#include <stdlib.h>
#include <time.h>

#include "lib/error.h"

/* A deadline must not move with the wall clock; where a condition knows no other, it does. */
static bool init_condition(gr_ring *ring)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    ring->clock = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 ? CLOCK_MONOTONIC
                                                                               : CLOCK_REALTIME;
    bool made = pthread_cond_init(&ring->changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

static bool init_lock(gr_ring *ring)
{
    if (pthread_mutex_init(&ring->lock, NULL) != 0)
        return false;
    if (init_condition(ring))
        return true;
    pthread_mutex_destroy(&ring->lock);
    return false;
}

/* What is left of a ring without slots. */
static void free_memory(gr_ring *ring)
{
    gr_ring_side_end(&ring->writer);
    gr_ring_side_end(&ring->reader);
    free(ring->state);
    free(ring->slots);
    free(ring->left);
    free(ring);
}

static gr_ring *make_empty(const gr_ring_options *options, const char *call)
{
    gr_ring *ring = calloc(1, sizeof(*ring));
    if (ring)
        ring->state = calloc(1, gr_ring_state_size(0));
    if (!ring || !ring->state || !init_lock(ring)) {
        if (ring)
            free_memory(ring);
        gr_fail_memory(call);
        return NULL;
    }
    gr_ring_state_init(ring->state, 0, options->mode == GR_RING_NEWEST);
    ring->writer.writes = true;
    ring->writer.is_cuda = options->producer == GR_SIDE_CUDA;
    ring->reader.is_cuda = !ring->writer.is_cuda;
    ring->wait_ms = options->wait_ms;
    return ring;
}

static gr_status check_options(const gr_ring_options *options, const char *call)
{
    bool side = options->producer == GR_SIDE_CUDA || options->producer == GR_SIDE_GRAPHICS;
    bool mode = options->mode == GR_RING_LOSSLESS || options->mode == GR_RING_NEWEST;
    if (side && mode)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call, "`%s` is %d, which is none of its values.",
                   side ? "mode" : "producer", side ? (int)options->mode : (int)options->producer);
}

static void end_lock(gr_ring *ring)
{
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
}

gr_ring *gr_ring_create(gr_resource *const resources[], size_t n, const gr_ring_options *options)
{
    static const gr_ring_options defaults;
    const gr_ring_options *o = options ? options : &defaults;
    if (check_options(o, __func__) != GR_OK ||
        gr_ring_check_resources(resources, n, NULL, __func__) != GR_OK)
        return NULL;
    gr_ring *ring = make_empty(o, __func__);
    if (!ring)
        return NULL;
    gr_status status = gr_ring_side_reserve(&ring->writer, n, __func__);
    if (status == GR_OK)
        status = gr_ring_side_reserve(&ring->reader, n, __func__);
    if (status == GR_OK)
        status = gr_ring_add_slots(ring, resources, n, __func__);
    if (status == GR_OK)
        return ring;
    end_lock(ring);
    free_memory(ring);
    return NULL;
}

void gr_ring_free(gr_ring *ring)
{
    if (!ring)
        return;
    /* First: the driver may end slots only when no stream waits for the peer. */
    gr_link_end(ring->link);
    gr_ring_end_all(ring);
    end_lock(ring);
    free_memory(ring);
}

void gr_ring_at_scope_end(gr_ring **ring)
{
    gr_ring_free(*ring);
    *ring = NULL;
}

gr_status gr_ring_check(const gr_ring *ring, const char *call)
{
    if (ring)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The ring is NULL: did gr_ring_create() fail? See gr_last_error() there.");
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

void gr_ring_count(gr_ring *ring, gr_ring_counts *counts)
{
    if (!counts)
        return;
    *counts = (gr_ring_counts){0};
    if (!ring)
        return;
    pthread_mutex_lock(&ring->lock);
    gr_ring_state_count(ring->state, counts);
    pthread_mutex_unlock(&ring->lock);
}
