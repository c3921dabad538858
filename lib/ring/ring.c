/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A ring without its slots: the lock, the sides and the memory of its state. */
#define _POSIX_C_SOURCE 200809L
#include "lib/ring/ring.h"

#include <stdlib.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/base/fork.h"

/*
 * Initialises the condition variable. Deadlines use the monotonic clock if the condition variable
 * supports that clock, otherwise the wall clock.
 */
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

gr_status gr_ring_check(const gr_ring *ring, const char *call)
{
    if (ring)
        return gr_fork_check(call);
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "The ring is NULL: did gr_ring_create() fail? Call gr_last_error() right after "
                   "that call for the reason.");
}

gr_status gr_ring_check_role(gr_ring_role role, const char *call)
{
    if (role == GR_RING_PRODUCER || role == GR_RING_CONSUMER)
        return GR_OK;
    return gr_fail(GR_ERR_INVALID_VALUE, call,
                   "`role` is %d: pass GR_RING_PRODUCER or GR_RING_CONSUMER.", (int)role);
}

/* ---- Life ------------------------------------------------------------------------------------ */

gr_ring *gr_ring_make_empty(const gr_ring_options *options, const char *call)
{
    gr_ring *ring = calloc(1, sizeof(*ring));
    if (!ring || !init_lock(ring)) {
        free(ring);
        gr_fail_memory(call);
        return NULL;
    }
    ring->descriptors[0].fd = ring->descriptors[1].fd = -1;
    ring->writer.writes = true;
    ring->writer.is_cuda = options->producer == GR_SIDE_CUDA;
    ring->reader.is_cuda = !ring->writer.is_cuda;
    ring->state.newest = options->mode == GR_RING_NEWEST;
    return ring;
}

void gr_ring_free_empty(gr_ring *ring)
{
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
    free(ring);
}

/* ---- Slots ----------------------------------------------------------------------------------- */

gr_resource *gr_ring_any_resource(const gr_ring *ring)
{
    uint32_t i = 0;
    while (!gr_ring_state_stays(&ring->state, i))
        i++;
    return ring->state.slots[i].api.resource;
}
