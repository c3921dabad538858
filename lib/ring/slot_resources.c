/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a ring: which resources can be some, and their begin and end. */
#include "lib/ring/slot_resources.h"

#include <stdlib.h>
#include <string.h>

#include "lib/backend.h"
#include "lib/driver.h"
#include "lib/error.h"
#include "lib/external/external.h"
#include "lib/log.h"
#include "lib/resource/resource.h"
#include "lib/ring/side_order.h"

/* So that no number of slots overflows; a ring of so many is a mistake. */
#define MOST_SLOTS 65536

/* ---- Which resources can be slots ------------------------------------------------------------ */

static gr_status refuse(size_t i, const char *call, const char *text)
{
    return gr_fail(GR_ERR_INVALID_VALUE, call, "Resource %zu %s", i, text);
}

static const struct gr_external_kind *kind_of(const gr_resource *resource)
{
    const struct gr_external *external = gr_external_of(resource);
    return external ? external->kind : NULL;
}

/* OpenGL's contexts; a backend's own rule also looks at whether a ring has the resource. */
static bool same_thread(const gr_resource *a, const gr_resource *b)
{
    const struct gr_external_kind *kind = kind_of(a);
    if (!gr_external_of(a))
        return a->backend->same_thread_rule(a, b);
    return !kind || !kind->same_thread_rule || kind->same_thread_rule(a, b);
}

static bool same_image(const struct gr_image *a, const struct gr_image *b)
{
    return a->width == b->width && a->height == b->height && a->depth == b->depth &&
           a->levels == b->levels && a->layers == b->layers && a->is_3d == b->is_3d &&
           a->cube == b->cube;
}

/* Whether the ring has to tell a submit of the application's what to wait for. */
static bool is_submitted(const gr_resource *resource)
{
    const struct gr_external_kind *kind = kind_of(resource);
    return gr_external_of(resource) && !(kind && kind->begin_use);
}

static gr_status check_semaphores(const gr_resource *resource, const gr_resource *like, size_t i,
                                  const char *call)
{
    const struct gr_sync *sync = &gr_external_of(resource)->sync;
    const struct gr_sync *other = &gr_external_of(like)->sync;
    if (!sync->acquire || !sync->release)
        return refuse(i, call,
                      "lacks a semaphore, so that nothing would order the two sides: give each "
                      "resource of the ring the same two by gr_resource_set_sync().");
    if (!sync->acquire->timeline || !sync->release->timeline)
        return refuse(i, call,
                      "has a binary semaphore, which is signalled once before it is waited for: "
                      "several frames in flight need timeline semaphores.");
    if (sync->acquire != other->acquire || sync->release != other->release)
        return refuse(i, call,
                      "has other semaphores than the ring's first one: a group of slots has one "
                      "wait and one signal, so give all of them the same two.");
    return GR_OK;
}

/* What slots have to have in common so that groups of them can be handed over. */
static gr_status check_kind(const gr_resource *resource, const gr_resource *like, size_t i,
                            const char *call)
{
    if (resource->backend != like->backend || kind_of(resource) != kind_of(like))
        return refuse(i, call,
                      "is shared by another transport than the others, or is of another API: make "
                      "a ring for each.");
    if (resource->context.handle != like->context.handle)
        return refuse(i, call, "belongs to another CUDA context than the others.");
    if (resource->is_image != like->is_image)
        return refuse(i, call, "is an image and others are buffers, or the other way round.");
    if (!same_thread(resource, like))
        return refuse(i, call, "belongs to another OpenGL context than the others.");
    return is_submitted(resource) ? check_semaphores(resource, like, i, call) : GR_OK;
}

static gr_status check_resource(gr_resource *resource, size_t i, const char *call)
{
    gr_status status = gr_resource_check_open(resource, call);
    if (status != GR_OK)
        return status;
    if (resource->mapped)
        return gr_fail(GR_ERR_STATE, call,
                       "Resource %zu is mapped: release its buffer before it goes into a ring.", i);
    if (resource->in_a_ring)
        return gr_fail(GR_ERR_STATE, call, "Resource %zu is a ring's already.", i);
    if (resource->visited)
        return refuse(i, call, "is listed twice.");
    return GR_OK;
}

static gr_status check_beside(gr_resource *const resources[], size_t i, const gr_resource *like,
                              const char *call)
{
    const gr_resource *resource = resources[i];
    gr_status status = check_kind(resource, like, i, call);
    if (status != GR_OK)
        return status;
    if (resource->size != resources[0]->size ||
        (resource->is_image && !same_image(&resource->image, &resources[0]->image)))
        return refuse(i, call, "has another size than the first: slots are all alike.");
    return GR_OK;
}

gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, gr_resource *like,
                                  const char *call)
{
    if (!resources || n == 0 || n > MOST_SLOTS)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       !resources ? "`resources` is NULL"
                       : n == 0   ? "A ring has 1 slot or more, but n is 0"
                                  : "n is too large: a ring has 65536 slots at the most");
    gr_status status = GR_OK;
    size_t checked = 0;
    for (; checked < n && status == GR_OK; checked++) {
        status = check_resource(resources[checked], checked, call);
        if (status == GR_OK)
            status = check_beside(resources, checked, like ? like : resources[0], call);
        if (status == GR_OK)
            resources[checked]->visited = true;
    }
    for (size_t i = 0; i < checked; i++)
        if (resources[i])
            resources[i]->visited = false;
    return status == GR_OK ? gr_resource_check_thread(resources[0], call) : status;
}

/* ---- Room ------------------------------------------------------------------------------------ */

static gr_status grow_state(gr_ring *ring, uint32_t room, const char *call)
{
    struct gr_ring_state *state = calloc(1, gr_ring_state_size(room));
    struct gr_ring_slot *slots = calloc(room, sizeof(*slots));
    if (!state || !slots) {
        free(state);
        free(slots);
        return gr_fail_memory(call);
    }
    memcpy(state, ring->state, gr_ring_state_size(ring->state->room));
    if (ring->slots)
        memcpy(slots, ring->slots, ring->state->room * sizeof(*slots));
    state->room = room;
    free(ring->state);
    free(ring->slots);
    ring->state = state;
    ring->slots = slots;
    return GR_OK;
}

/* So that slots can leave later without an allocation that may fail. */
static gr_status grow_left(gr_ring *ring, uint32_t room, const char *call)
{
    if (room <= ring->left_room)
        return GR_OK;
    struct gr_ring_left *left = realloc(ring->left, room * sizeof(*left));
    if (!left)
        return gr_fail_memory(call);
    ring->left = left;
    ring->left_room = room;
    return GR_OK;
}

static gr_status make_room(gr_ring *ring, uint32_t n, const char *call)
{
    uint32_t room = ring->state->slots + ring->state->leaving + n;
    gr_status status = grow_left(ring, ring->left_count + room, call);
    return status == GR_OK && room > ring->state->room ? grow_state(ring, room, call) : status;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call)
{
    gr_status status = make_room(ring, (uint32_t)n, call);
    if (status == GR_OK)
        status = gr_ring_first_use(ring, resources, n, call);
    if (status != GR_OK)
        return status;
    gr_ring_state_leave(ring->state);
    for (size_t i = 0; i < n; i++) {
        uint32_t number = gr_ring_state_add(ring->state);
        ring->slots[number] = (struct gr_ring_slot){resources[i], NULL, (unsigned)i};
        resources[i]->in_a_ring = true;
        if (gr_external_of(resources[i]))
            gr_external_of(resources[i])->in_ring = true;
    }
    return GR_OK;
}

/* ---- End ------------------------------------------------------------------------------------- */

static bool has_passed(const gr_resource *resource, CUevent event)
{
    bool pushed, passed = true;
    if (gr_context_enter(&resource->context, &pushed, __func__) == GR_OK)
        passed = gr_driver()->EventQuery(event) != CUDA_ERROR_NOT_READY;
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
 * Vulkan's objects end with the resource, so its submits must be over: an event after all of them,
 * or NULL.
 */
static CUevent event_after_use(gr_resource *resource)
{
    CUevent event = NULL;
    bool pushed;
    if (!is_submitted(resource) || !kind_of(resource) ||
        gr_context_enter(&resource->context, &pushed, __func__) != GR_OK)
        return NULL;
    struct gr_sync *sync = &gr_external_of(resource)->sync;
    const gr_semaphore_point drawn = {.semaphore = sync->acquire, .value = sync->drawn};
    gr_status status =
        sync->drawn ? gr_semaphore_event_after(&drawn, 1, &event) : gr_sync_last_work(sync, &event);
    gr_context_leave(pushed);
    bool wanted = status == GR_OK && event && !has_passed(resource, event);
    if (wanted)
        return event;
    end_event(resource, event);
    return NULL;
}

static void end_slot(gr_ring *ring, gr_resource *resource)
{
    CUevent after = event_after_use(resource);
    if (!after) {
        gr_resource_free(resource);
        return;
    }
    pthread_mutex_lock(&ring->lock);
    ring->left[ring->left_count++] = (struct gr_ring_left){resource, after};
    pthread_mutex_unlock(&ring->lock);
}

/* A slot that has left, and is not in use any more. */
static bool take_ended(gr_ring *ring, struct gr_ring_left *ended)
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

static gr_resource *take_left(gr_ring *ring)
{
    gr_resource *resource = NULL;
    uint32_t number;
    pthread_mutex_lock(&ring->lock);
    if (gr_ring_state_take_left(ring->state, &number)) {
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
    gr_error before;
    gr_resource *resource;
    struct gr_ring_left ended;
    gr_error_save(&before);
    while ((resource = take_left(ring)))
        end_slot(ring, resource);
    while (take_ended(ring, &ended)) {
        end_event(ended.resource, ended.after);
        gr_resource_free(ended.resource);
    }
    gr_error_restore(&before);
}

/* A buffer that the application still has is released by it, and reports 0. */
static void close_slot(gr_resource *resource)
{
    gr_error error;
    if (gr_resource_is_mapped(resource) && gr_resource_close(resource, GR_STREAM_OF_MAP) != GR_OK) {
        gr_last_error(&error);
        gr_log(GR_LOG_WARNING, "gr_ring_free: %s", error.message);
    }
    gr_resource_free(resource);
}

void gr_ring_end_all(gr_ring *ring)
{
    gr_error before;
    gr_error_save(&before);
    for (uint32_t i = 0; i < ring->state->room; i++)
        if (ring->slots[i].resource)
            close_slot(ring->slots[i].resource);
    for (uint32_t i = 0; i < ring->left_count; i++) {
        end_event(ring->left[i].resource, ring->left[i].after);
        gr_resource_free(ring->left[i].resource);
    }
    gr_error_restore(&before);
}
