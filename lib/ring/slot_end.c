/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends slots: the ring drops their resources when no work uses them any more. */
#include "lib/ring/slot_end.h"

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/resource/release.h"
#include "lib/resource/resource.h"
#include "lib/ring/own_pair.h"
#include "lib/ring/side_order.h"
#include "lib/ring/slot_resources.h"
#include "lib/sync/semaphore_points.h"
#include "lib/sync/submit.h"

static bool has_passed(const gr_resource *resource, CUevent event)
{
    GR_ENTERED pushed = false;
    return gr_context_enter(&resource->context, &pushed, __func__) != GR_OK ||
           gr_event_has_passed(event);
}

static void end_event(const gr_resource *resource, CUevent event)
{
    GR_ENTERED pushed = false;
    if (event && gr_context_enter(&resource->context, &pushed, __func__) == GR_OK)
        gr_driver()->EventDestroy(event);
}

/*
 * Returns an event after all Vulkan submits that use the resource, or NULL. The ring keeps its
 * reference until they are done: Vulkan objects may end with this reference, and resources that the
 * application keeps may get other semaphores.
 */
static CUevent event_after_use(gr_resource *resource)
{
    CUevent event = NULL;
    bool pushed;
    if (!gr_sync_is_submitted(resource) || resource->backend->api == GR_GRAPHICS_EXTERNAL ||
        gr_context_enter(&resource->context, &pushed, __func__) != GR_OK)
        return NULL;
    struct gr_sync *sync = gr_sync_of(resource);
    const gr_semaphore_point drawn =
        GR_INIT(gr_semaphore_point, .semaphore = sync->acquire, .value = sync->drawn);
    gr_status status = sync->drawn ? gr_semaphore_event_after(&drawn, 1, &event)
                                   : gr_sync_record_work(resource, "gr_ring_free");
    if (!sync->drawn)
        event = gr_work_take(&sync->work);
    gr_context_leave(pushed);
    bool wanted = status == GR_OK && event && !has_passed(resource, event);
    if (wanted)
        return event;
    end_event(resource, event);
    return NULL;
}

/*
 * Returns the resource to the application if the application still has a reference. The ring's
 * reference is dropped later.
 */
static void hand_back(const gr_ring *ring, gr_resource *resource)
{
    bool stays = __atomic_load_n(&resource->holds, __ATOMIC_RELAXED) > 1;
    if (stays && gr_external_of(resource) && gr_external_of(resource)->memory) {
        gr_ring_restore_pair(resource, ring->given, "gr_ring_free");
        gr_ring_last_use(resource);
    } else if (stays && !gr_external_of(resource)) {
        gr_ring_last_use(resource);
    }
    resource->in_a_ring = false;
}

bool gr_ring_has_left(const gr_ring *ring)
{
    return ring->state.counts[GR_SLOT_LEFT] > 0;
}

/* Takes a slot that has left the ring, and that no submit uses any more as far as it is known. */
static uint32_t take_left(gr_ring *ring)
{
    uint32_t found = GR_RING_MOST_SLOTS;
    pthread_mutex_lock(&ring->lock);
    GR_FOR_SLOTS_IN(i, &ring->state, GR_SLOT_LEFT)
    {
        const struct gr_ring_slot *slot = &ring->state.slots[i];
        if (slot->after && !has_passed(slot->api.resource, slot->after))
            continue;
        gr_ring_state_move(&ring->state, found = i, GR_SLOT_ENDING);
        break;
    }
    pthread_mutex_unlock(&ring->lock);
    return found;
}

/* Drops the resource of a slot, or keeps it until the submits that use it are done. */
static void end_slot(gr_ring *ring, uint32_t number)
{
    struct gr_ring_slot *slot = &ring->state.slots[number];
    CUevent after = slot->after ? NULL : event_after_use(slot->api.resource);
    if (!after) {
        end_event(slot->api.resource, slot->after);
        hand_back(ring, slot->api.resource);
        gr_resource_drop(slot->api.resource);
    }
    pthread_mutex_lock(&ring->lock);
    slot->after = after;
    gr_ring_state_move(&ring->state, number, after ? GR_SLOT_LEFT : GR_SLOT_NONE);
    pthread_mutex_unlock(&ring->lock);
}

void gr_ring_end_left(gr_ring *ring)
{
    struct gr_error_record before;
    uint32_t number;
    gr_error_save(&before);
    while ((number = take_left(ring)) < GR_RING_MOST_SLOTS)
        end_slot(ring, number);
    gr_error_restore(&before);
}

/*
 * Ends the use of a slot. If the application still holds the slot's buffer, queries of this buffer
 * return 0 from then on.
 */
static void end_use(const gr_slot *slot)
{
    if (slot->submit)
        gr_submit_settle(slot->submit, slot->resource);
    if (slot->resource->mapped && gr_resource_unmap_anyhow(slot->resource, "gr_ring_free") != GR_OK)
        gr_error_warn("gr_ring_free");
}

/*
 * Switches all resources back to the semaphores of the device, before the ring drops the resources
 * and its own semaphores.
 */
void gr_ring_end_all(gr_ring *ring)
{
    struct gr_error_record before;
    gr_error_save(&before);
    for (uint32_t i = 0; i < GR_RING_MOST_SLOTS; i++) {
        struct gr_ring_slot *slot = &ring->state.slots[i];
        if (slot->state == GR_SLOT_NONE)
            continue;
        end_use(&slot->api);
        end_event(slot->api.resource, slot->after);
        hand_back(ring, slot->api.resource);
    }
    gr_pair_drop(ring->own);
    gr_pair_drop(ring->given);
    for (uint32_t i = 0; i < GR_RING_MOST_SLOTS; i++)
        if (ring->state.slots[i].state != GR_SLOT_NONE)
            gr_resource_drop(ring->state.slots[i].api.resource);
    gr_error_restore(&before);
}
