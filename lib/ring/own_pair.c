/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The ring's own pair of semaphores, and the pair that its resources had before. */
#include "lib/ring/own_pair.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/sync/semaphore_points.h"
#include "lib/base/log.h"

enum { ACQUIRE, RELEASE };

static void drop(gr_semaphore **semaphore)
{
    if (*semaphore)
        gr_semaphore_drop(*semaphore);
    *semaphore = NULL;
}

void gr_ring_end_pair(gr_ring *ring)
{
    for (int i = ACQUIRE; i <= RELEASE; i++) {
        drop(&ring->own[i]);
        drop(&ring->given[i]);
    }
}

void gr_ring_keep_given(gr_ring *ring, const gr_resource *resource)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    if (ring->has_given)
        return;
    gr_semaphore_hold(ring->given[ACQUIRE] = sync->acquire);
    gr_semaphore_hold(ring->given[RELEASE] = sync->release);
    ring->has_given = true;
}

static gr_status make_pair(gr_ring *ring, const gr_resource *resource)
{
    if (ring->own[ACQUIRE])
        return GR_OK;
    for (int i = ACQUIRE; i <= RELEASE; i++) {
        ring->own[i] = resource->backend->create_semaphore(resource);
        if (!ring->own[i])
            return gr_last_error()->status;
    }
    gr_ring_keep_given(ring, resource);
    return GR_OK;
}

/*
 * Waits for the last Vulkan submit that used the resource, because gr_sync_set() forgets that
 * submit.
 */
static gr_status wait_for_submit(const gr_resource *resource, const char *call)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    const gr_semaphore_point drawn =
        GR_INIT(gr_semaphore_point, .semaphore = sync->acquire, .value = sync->drawn);
    CUevent event = NULL;
    bool pushed;
    if (!sync->drawn)
        return GR_OK;
    GR_TRY(gr_context_enter(&resource->context, &pushed, call));
    gr_status status = gr_semaphore_event_after(&drawn, 1, &event);
    if (event) {
        gr_event_finish(event);
        gr_driver()->EventDestroy(event);
    }
    gr_context_leave(pushed);
    return status;
}

static gr_status take_one(const gr_ring *ring, gr_resource *resource, const char *call)
{
    GR_TRY(wait_for_submit(resource, call));
    return gr_sync_set(resource, ring->own[ACQUIRE], ring->own[RELEASE], call);
}

gr_status gr_ring_set_own_pair(gr_ring *ring, gr_resource *const resources[], size_t n,
                               const char *call)
{
    const struct gr_backend *backend = resources[0]->backend;
    if (!gr_sync_of(resources[0])->of_device || !backend->create_semaphore)
        return GR_OK;
    gr_status status = make_pair(ring, resources[0]);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        status = take_one(ring, resources[i], call);
        for (; status != GR_OK && i > 0; i--)
            gr_ring_restore_pair(ring, resources[i - 1]);
        if (status != GR_OK)
            break;
    }
    return status;
}

/*
 * Switches a resource to the pair. After a failure no later use waits for its last work, whose
 * signal may never come.
 */
static void switch_to(gr_resource *resource, gr_semaphore *const pair[2], const char *call)
{
    struct gr_sync *sync = gr_sync_of(resource);
    if (sync->acquire == pair[ACQUIRE] && sync->release == pair[RELEASE])
        return;
    if (gr_sync_set(resource, pair[ACQUIRE], pair[RELEASE], call) == GR_OK)
        return;
    sync->computed = sync->drawn = 0;
    gr_log(GR_LOG_WARNING,
           "%s: cannot restore the semaphores of a resource, which keeps those of the ring: %s",
           call, gr_last_error()->message);
}

void gr_ring_end_sharing(const gr_ring *ring, gr_resource *resource, const char *call)
{
    if (resource->backend->restore_pair)
        resource->backend->restore_pair(resource, call);
    if (ring->has_given)
        switch_to(resource, ring->own[ACQUIRE] ? ring->own : ring->given, call);
}

void gr_ring_restore_pair(const gr_ring *ring, gr_resource *resource)
{
    gr_ring_end_sharing(ring, resource, "gr_ring_free");
    if (!ring->has_given || !ring->own[ACQUIRE])
        return;
    switch_to(resource, ring->given, "gr_ring_free");
    gr_sync_of(resource)->of_device = gr_sync_of(resource)->acquire == ring->given[ACQUIRE];
}
