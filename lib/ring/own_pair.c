/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The ring's own pair of semaphores, and the pair that its resources had before; see own_pair.h. */
#include "lib/ring/own_pair.h"

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/sync/turns.h"

static gr_status make_pair(gr_ring *ring, const gr_resource *resource)
{
    const struct gr_backend *backend = resource->backend;
    gr_semaphore *acquire = backend->create_semaphore(resource);
    gr_semaphore *release = acquire ? backend->create_semaphore(resource) : NULL;
    ring->own = gr_pair_of_new(acquire, release);
    if (!ring->own)
        return gr_last_error()->status;
    ring->given = gr_pair_hold(resource->sync.pair);
    return GR_OK;
}

/*
 * Waits for the last Vulkan submit that used the resource, because gr_sync_set() forgets that
 * submit.
 */
static gr_status wait_for_submit(gr_resource *resource)
{
    CUevent event = NULL;
    if (!resource->sync.drawn && !resource->sync.turns)
        return GR_OK;
    GR_ENTER(&resource->context);
    gr_status status = gr_sync_take_last_use(resource, &event);
    if (event) {
        gr_event_finish(event);
        gr_driver()->EventDestroy(event);
    }
    return status;
}

void gr_ring_restore_pair(gr_resource *resource, struct gr_semaphore_pair *pair)
{
    struct gr_sync *sync = &resource->sync;
    if (!pair || (sync->acquire == pair->acquire && sync->release == pair->release) ||
        gr_sync_set(resource, pair) == GR_OK)
        return;
    /* No later use waits for the last work, whose signal may never come. */
    sync->computed = sync->drawn = 0;
    gr_turns_forget(sync->turns);
    gr_log(GR_LOG_WARNING,
           "%s: cannot restore the semaphores of a resource, which keeps those of the ring: %s",
           gr_call, gr_last_error()->message);
}

gr_status gr_ring_switch_pair(gr_resource *const resources[], size_t n,
                              struct gr_semaphore_pair *pair)
{
    struct gr_semaphore_pair *before = gr_pair_hold(resources[0]->sync.pair);
    gr_status status = GR_OK;
    size_t done = 0;
    while (done < n && (status = gr_sync_set(resources[done], pair)) == GR_OK)
        done++;
    GR_KEEP_ERROR();
    while (status != GR_OK && done > 0)
        gr_ring_restore_pair(resources[--done], before);
    gr_pair_drop(before);
    return status;
}

gr_status gr_ring_set_own_pair(gr_ring *ring, gr_resource *const resources[], size_t n)
{
    const struct gr_semaphore_pair *pair = resources[0]->sync.pair;
    const struct gr_backend *backend = resources[0]->backend;
    /* begin_use() waits only for semaphores that the graphics API has imported */
    if (!pair || !pair->of_device || !backend->create_semaphore || backend->begin_use)
        return GR_OK;
    gr_status status = ring->own ? GR_OK : make_pair(ring, resources[0]);
    for (size_t i = 0; i < n && status == GR_OK; i++)
        status = wait_for_submit(resources[i]);
    return status == GR_OK ? gr_ring_switch_pair(resources, n, ring->own) : status;
}
