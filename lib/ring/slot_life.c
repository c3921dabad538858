/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which resources can be slots of a ring, and how slots are added and ended. */
#include "lib/ring/slot_life.h"

#include <stdatomic.h>

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/resource/backend.h"
#include "lib/resource/resource.h"
#include "lib/ring/own_pair.h"
#include "lib/ring/slot_use.h"
#include "lib/sync/sync.h"

/* ---- Which resources can be slots ------------------------------------------------------------ */

static gr_status refuse_slot(size_t i, const char *text)
{
    return gr_fail(GR_ERR_INVALID_VALUE, "Resource %zu %s", i, text);
}

static bool same_image(const gr_resource *one, const gr_resource *other)
{
    const gr_image_info *a = &one->image, *b = &other->image;
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->levels == b->levels && a->layers == b->layers && a->cube == b->cube &&
           one->is_3d == other->is_3d;
}

/*
 * Whether two resources have the same pair of semaphores. A new resource may still have the pair of
 * the device: it then counts as equal if the ring's own pair replaces that pair.
 */
static bool same_pair(const struct gr_sync *sync, const struct gr_sync *other, const gr_ring *ring)
{
    if (ring && ring->own && sync->pair->of_device)
        return sync->acquire == ring->given->acquire && sync->release == ring->given->release;
    return sync->acquire == other->acquire && sync->release == other->release;
}

static gr_status check_semaphores(gr_resource *resource, const gr_resource *like,
                                  const gr_ring *ring, size_t i)
{
    const struct gr_sync *sync = &resource->sync;
    const struct gr_sync *other = &like->sync;
    GR_TRY(gr_sync_decide(resource));
    if (!sync->acquire || !sync->release)
        return refuse_slot(
            i, "lacks a semaphore, so nothing would order the two sides: set the same "
               "two semaphores for all resources of the ring by gr_resource_set_sync().");
    if (!sync->acquire->timeline || !sync->release->timeline)
        return refuse_slot(
            i, "has a binary semaphore, which can be signalled only once per wait: several "
               "frames in flight need timeline semaphores.");
    if (!same_pair(sync, other, ring))
        return refuse_slot(
            i,
            "has other semaphores than the ring's first resource: slots handed over together share "
            "one wait and one signal, so set the same two semaphores for all resources.");
    return gr_sync_check_ready(resource);
}

/*
 * Checks the properties that all slots must share, so that a group of slots can be handed over in
 * one call.
 */
static gr_status check_kind(gr_resource *resource, const gr_resource *like, const gr_ring *ring,
                            size_t i)
{
    gr_resource *const both[] = {resource, (gr_resource *)like};
    if (resource->backend != like->backend)
        return refuse_slot(
            i,
            "uses another transport or API than the others, or, unlike them, has the memory of a "
            "tensor: create a ring for each.");
    if (!gr_context_same(&resource->context, &like->context))
        return refuse_slot(
            i, "belongs to another CUDA context than the others: register all of them with "
               "the same context current.");
    if (resource->is_image != like->is_image)
        return refuse_slot(
            i, "is an image and others are buffers, or the reverse: create a ring for each.");
    if (like->backend->run(both, 2) != 2)
        return refuse_slot(
            i,
            "was registered in another OpenGL context than the others, only one of them was "
            "registered with gr_gl_options.share_group, or this OpenGL has no timelines, so that "
            "each shared resource has its own semaphores: create a ring for each.");
    return gr_sync_is_submitted(resource) ? check_semaphores(resource, like, ring, i) : GR_OK;
}

static gr_status check_resource(gr_resource *resource, size_t i)
{
    GR_TRY(gr_resource_check_given(resource));
    GR_TRY(gr_resource_check_open(resource));
    gr_resource_collect(resource);
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE,
                       "Resource %zu is mapped: release its buffer before you create the ring.", i);
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE,
                       "Resource %zu is already in a ring: create another resource for this one.",
                       i);
    if (resource->follows)
        return refuse_slot(i, "was registered with `follow_storage`, but a slot keeps its storage: "
                              "register the object without that option.");
    return GR_OK;
}

gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, const gr_ring *ring)
{
    const size_t most = ring ? gr_ring_state_room(&ring->state) : GR_RING_MOST_SLOTS;
    GR_REFUSE_IF(!resources || n == 0, "%s.",
                 !resources
                     ? "`resources` is NULL: pass an array of n resources, which become the slots"
                     : "n is 0: a ring has at least 1 slot");
    GR_REFUSE_IF(n > most,
                 "n is %zu: pass at most %zu. A ring has at most %d slots; a resize needs room for "
                 "the new slots and for those before it.",
                 n, most, GR_RING_MOST_SLOTS);
    for (size_t i = 0; i < n; i++) {
        GR_TRY(check_resource(resources[i], i));
        for (size_t k = 0; k < i; k++) /* a ring has few slots */
            if (resources[k] == resources[i])
                return refuse_slot(i, "is listed twice: each slot needs its own resource.");
        GR_TRY(check_kind(resources[i], ring ? gr_ring_any_resource(ring) : resources[0], ring, i));
        if (resources[i]->size != resources[0]->size ||
            (resources[i]->is_image && !same_image(resources[i], resources[0])))
            return refuse_slot(
                i, "has another size than the first: all slots must have the same size.");
    }
    return gr_resource_check_thread(resources[0]);
}

/* ---- Adding slots ---------------------------------------------------------------------------- */

gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n)
{
    const bool is_cuda_first = ring->writer.is_cuda;
    if (is_cuda_first && gr_sync_is_submitted(resources[0]))
        GR_TRY(gr_external_check_storage(resources, n, NULL));
    GR_TRY(gr_ring_set_own_pair(ring, resources, n));
    if (is_cuda_first)
        GR_TRY(gr_ring_end_graphics(resources, n));
    gr_ring_state_replace(&ring->state);
    gr_ring_state_add(&ring->state, resources, n);
    gr_group_change();
    for (size_t i = 0; i < n; i++) {
        gr_resource_hold(resources[i]);
        resources[i]->in_a_ring = true;
    }
    return GR_OK;
}

/* ---- Ending slots: the ring drops their resources when no work uses them any more ------------ */

static void end_event(const gr_resource *resource, CUevent event)
{
    GR_ENTERED entered = 0;
    if (event && gr_context_try(&resource->context, &entered))
        gr_driver()->EventDestroy(event);
}

/*
 * Whether the work with a slot that has left is over. If Vulkan submits use its resource, an event
 * after the last use says so; *after has it until then. The ring keeps its reference as long:
 * Vulkan objects may end with this reference, and resources that the application keeps may get
 * other semaphores.
 */
static bool slot_work_is_over(gr_resource *resource, CUevent *after)
{
    GR_CALL_AS("gr_ring_free");
    CUevent event = *after;
    GR_ENTERED entered = 0;
    *after = NULL;
    if (!gr_sync_is_submitted(resource) || resource->backend->api == GR_GRAPHICS_EXTERNAL ||
        !gr_context_try(&resource->context, &entered))
        return true;
    if (!event)
        (void)gr_sync_take_last_use(resource, &event);
    if (event && !gr_event_has_passed(event)) {
        *after = event;
        return false;
    }
    if (event)
        gr_driver()->EventDestroy(event);
    return true;
}

/*
 * Returns the resource to the application if the application still has a reference. The ring's
 * reference is dropped later.
 */
static void hand_back(const gr_ring *ring, gr_resource *resource)
{
    GR_CALL_AS("gr_ring_free");
    if (atomic_load_explicit(&resource->holds, memory_order_relaxed) > 1 && resource->handle) {
        gr_ring_restore_pair(resource, ring->given);
        gr_ring_last_use(resource);
    }
    resource->in_a_ring = false;
}

/* Takes the next slot that has left the ring, at or after `from`. */
static uint32_t take_left(gr_ring *ring, uint32_t from)
{
    struct gr_ring_state *state = &ring->state;
    GR_LOCKED(&ring->lock);
    const uint32_t i = gr_slot_set_next(state, &state->in[GR_SLOT_LEFT], from);
    if (i < GR_RING_MOST_SLOTS)
        gr_ring_state_move(state, i, GR_SLOT_ENDING);
    return i;
}

/* Drops the resource of a slot, or keeps it until the submits that use it are done. */
static void end_slot(gr_ring *ring, uint32_t number)
{
    struct gr_ring_slot *slot = &ring->state.slots[number];
    gr_resource *resource = slot->api.resource;
    const bool done = slot_work_is_over(resource, &slot->after);
    if (done) {
        hand_back(ring, resource);
        gr_resource_drop(resource);
    }
    GR_LOCKED(&ring->lock);
    gr_ring_state_move(&ring->state, number, done ? GR_SLOT_NONE : GR_SLOT_LEFT);
}

void gr_ring_end_left(gr_ring *ring)
{
    GR_KEEP_ERROR();
    for (uint32_t i = 0; (i = take_left(ring, i)) < GR_RING_MOST_SLOTS; i++)
        end_slot(ring, i);
}

void gr_ring_unlock_and_end_left(gr_ring *ring)
{
    const bool ends = ring->state.counts[GR_SLOT_LEFT] > 0;
    gr_unlock(&ring->lock);
    if (ends)
        gr_ring_end_left(ring);
}

/*
 * Ends the use of a slot. If the application still holds the slot's buffer, queries of this buffer
 * return 0 from then on.
 */
static void end_use(const gr_ring *ring, const gr_slot *slot)
{
    GR_CALL_AS("gr_ring_free");
    struct gr_last_work *work = &slot->resource->sync.work;
    GR_ENTERED entered = 0;
    if (slot->submit)
        gr_submit_settle(slot->submit, slot->resource);
    if (!slot->resource->mapped)
        return;
    gr_attempt_begin(); /* the warning is enough */
    const gr_status status = gr_resource_unmap_anyhow(slot->resource);
    gr_attempt_end();
    if (status != GR_OK)
        gr_error_unreceived("gr_ring_free");
    else if (ring->link && work->stream && gr_context_try(&slot->resource->context, &entered))
        /* An event shows the last work, for a peer may have signalled the semaphore itself. */
        (void)gr_work_mark_or_finish(work, work->stream);
}

/*
 * Switches all resources back to the semaphores of the device, before the ring drops the resources
 * and its own semaphores.
 */
void gr_ring_end_all(gr_ring *ring)
{
    GR_KEEP_ERROR();
    for (uint32_t i = 0; i < GR_RING_MOST_SLOTS; i++) {
        struct gr_ring_slot *slot = &ring->state.slots[i];
        if (slot->state == GR_SLOT_NONE)
            continue;
        end_use(ring, &slot->api);
        end_event(slot->api.resource, slot->after);
        hand_back(ring, slot->api.resource);
    }
    gr_pair_drop(ring->own);
    gr_pair_drop(ring->given);
    for (uint32_t i = 0; i < GR_RING_MOST_SLOTS; i++)
        if (ring->state.slots[i].state != GR_SLOT_NONE)
            gr_resource_drop(ring->state.slots[i].api.resource);
}
