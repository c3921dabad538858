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
    bool pushed, passed = true;
    if (gr_context_enter(&resource->context, &pushed, __func__) == GR_OK)
        passed = gr_event_has_passed(event);
    gr_context_leave(pushed);
    return passed;
}

static void end_event(const gr_resource *resource, CUevent event)
{
    bool pushed;
    if (event && gr_context_enter(&resource->context, &pushed, __func__) == GR_OK) {
        gr_driver()->EventDestroy(event);
        gr_context_leave(pushed);
    }
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

static void drop_slot(const gr_ring *ring, gr_resource *resource)
{
    hand_back(ring, resource);
    gr_resource_drop(resource);
}

static void end_slot(gr_ring *ring, gr_resource *resource)
{
    CUevent after = event_after_use(resource);
    if (!after) {
        drop_slot(ring, resource);
        return;
    }
    pthread_mutex_lock(&ring->lock);
    ring->left[ring->left_count++] = (struct gr_ring_left){resource, after};
    pthread_mutex_unlock(&ring->lock);
}

/* Removes a slot that has left the ring and is no longer in use. */
static bool remove_ended(gr_ring *ring, struct gr_ring_left *ended)
{
    bool found = false;
    pthread_mutex_lock(&ring->lock);
    for (uint32_t i = 0; i < ring->left_count && !found; i++) {
        found = has_passed(ring->left[i].resource, ring->left[i].after);
        if (!found)
            continue;
        *ended = ring->left[i];
        ring->left[i] = ring->left[--ring->left_count];
    }
    pthread_mutex_unlock(&ring->lock);
    return found;
}

static gr_resource *remove_left(gr_ring *ring)
{
    gr_resource *resource = NULL;
    uint32_t number;
    pthread_mutex_lock(&ring->lock);
    if (gr_ring_state_remove_left(ring->state, &number)) {
        resource = ring->slots[number].resource;
        ring->slots[number].resource = NULL;
    }
    pthread_mutex_unlock(&ring->lock);
    return resource;
}

bool gr_ring_has_left(const gr_ring *ring)
{
    return ring->state->leaving > 0 || ring->left_count > 0;
}

void gr_ring_end_left(gr_ring *ring)
{
    struct gr_error_record before;
    gr_resource *resource;
    struct gr_ring_left ended;
    gr_error_save(&before);
    while ((resource = remove_left(ring)))
        end_slot(ring, resource);
    while (remove_ended(ring, &ended)) {
        end_event(ended.resource, ended.after);
        drop_slot(ring, ended.resource);
    }
    gr_error_restore(&before);
}

/*
 * Ends the use of a slot. If the application still holds the slot's buffer, queries of this buffer
 * return 0 from then on.
 */
static void end_use(const struct gr_ring_slot *slot)
{
    gr_resource *resource = slot->resource;
    if (slot->submit)
        gr_submit_settle(slot->submit, resource);
    if (resource->mapped && gr_resource_unmap_anyhow(resource, "gr_ring_free") != GR_OK)
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
    for (uint32_t i = 0; i < ring->state->room; i++) {
        if (!ring->slots[i].resource)
            continue;
        end_use(&ring->slots[i]);
        hand_back(ring, ring->slots[i].resource);
    }
    for (uint32_t i = 0; i < ring->left_count; i++) {
        end_event(ring->left[i].resource, ring->left[i].after);
        hand_back(ring, ring->left[i].resource);
    }
    gr_pair_drop(ring->own);
    gr_pair_drop(ring->given);
    for (uint32_t i = 0; i < ring->state->room; i++)
        gr_resource_drop(ring->slots[i].resource);
    for (uint32_t i = 0; i < ring->left_count; i++)
        gr_resource_drop(ring->left[i].resource);
    gr_error_restore(&before);
}
