/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings of two OpenGL buffers between CUDA and OpenGL, with both sides on this thread. Their slots
 * may be replaced while frames are in flight.
 */
#include "calls.h"

#include <string.h>

struct ring *ring_at(struct world *w, int place)
{
    return place >= 0 && place < RINGS ? &w->rings[place] : NULL;
}

struct resource *ring_resource(const struct ring *ring)
{
    int i = 0;
    while (ring->slots[i].state == SLOT_NONE || ring->slots[i].leaving)
        i++;
    return ring->slots[i].resource;
}

/* Whether the ring is NULL, or is live and its context is current. */
bool is_ring_valid(const struct world *w, const struct ring *ring)
{
    return !ring || (ring->life == LIVE && is_here(w, ring_resource(ring)));
}

unsigned ring_count(const struct ring *ring, enum slot_state state, bool also_leaving)
{
    unsigned found = 0;
    for (int i = 0; i < ALL_SLOTS; i++)
        found += ring->slots[i].state == state && (also_leaving || !ring->slots[i].leaving);
    return found;
}

void slot_is_free(struct ring *ring, struct slot *slot)
{
    slot->state = SLOT_FREE;
    slot->turn = ++ring->freed;
    if (slot->leaving)
        slot_is_left(slot);
}

/* ---- Create, stop, free ---------------------------------------------------------------------- */

/*
 * Whether the resource may become a slot. Read-only resources, and resources that only a map
 * refuses, are excluded: calls_map.c covers them.
 */
static bool can_be_slot(const struct resource *r)
{
    const struct object *o = r->object;
    return r->life == LIVE && !r->gone && !r->begun && !r->later && !r->kept && r->cuda == 0 &&
           o->context != ANY_CONTEXT && !r->image && !o->deleted && o->size == r->size &&
           !(r->flags & GR_READ_ONLY) && (r->ring || r->mapped || !o->mapped);
}

static bool can_create(struct world *w, const int *a)
{
    const struct resource *one = resource_at(w, a[0]), *other = resource_at(w, a[1]);
    if (one && (!can_be_slot(one) || one == other))
        return false;
    if (other && !can_be_slot(other))
        return false;
    return !one || !other || (one->object != other->object);
}

static unsigned slot_may(const struct world *w, const struct resource *r)
{
    if (!r)
        return MAY(GR_ERR_INVALID_VALUE);
    return (r->mapped || r->closed || r->ring ? MAY(GR_ERR_STATE) : 0) |
           (r->follows ? MAY(GR_ERR_INVALID_VALUE) : 0) | context_may(w, r);
}

static void has_slots(struct ring *ring, struct resource *const list[])
{
    struct slot *slot = ring->slots;
    for (int i = 0; i < SLOTS; i++) {
        while (slot->state != SLOT_NONE)
            slot++;
        *slot = (struct slot){.resource = list[i], .index = (unsigned)i};
        slot_is_free(ring, slot);
        list[i]->ring = ring;
        list[i]->object->ringed = true;
        list[i]->object->mapped++;
    }
}

static bool are_alike(const struct resource *one, const struct resource *other)
{
    return one->size == other->size && one->transport == other->transport &&
           !one->object->of == !other->object->of && one->grouped == other->grouped &&
           one->object->context == other->object->context;
}

static unsigned slots_may(const struct world *w, struct resource *const list[])
{
    unsigned may = slot_may(w, list[0]) | slot_may(w, list[1]);
    if (list[0] && list[1] && !are_alike(list[0], list[1]))
        may |= MAY(GR_ERR_INVALID_VALUE);
    return may;
}

bool run_gr_ring_create(struct world *w, const int *a)
{
    struct resource *list[SLOTS] = {resource_at(w, a[0]), resource_at(w, a[1])};
    struct ring *ring = ring_at(w, a[3]);
    gr_resource *const given[SLOTS] = {handle_of(list[0]), handle_of(list[1])};
    size_t n = a[2] == 0 ? 0 : SLOTS;
    const gr_ring_options options =
        GR_INIT(gr_ring_options, .producer = a[2] == 3 ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA,
                .mode = a[4] % 2 ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    if (ring->life == LIVE || !can_create(w, a))
        return false;
    if (options.producer && (is_discarded(list[0]) || is_discarded(list[1])))
        return false;
    gr_ring *made = gr_ring_create(given, n, &options);
    if (!judge_made(w, made, n ? slots_may(w, list) : MAY(GR_ERR_INVALID_VALUE)))
        return true;
    *ring = (struct ring){.life = LIVE,
                          .it = made,
                          .cuda_reads = options.producer == GR_SIDE_GRAPHICS,
                          .newest = options.mode == GR_RING_NEWEST};
    has_slots(ring, list);
    return true;
}

/*
 * Creates a ring of two matching resources and a tensor of the frame size. Random picks rarely find
 * two matching resources, so a sequence may begin with this step.
 */
bool run_ring_ready(struct world *w, const int *a)
{
    int set = a[0] == 2 && !w->shared_works ? 1 : a[0] == 0 ? 3 : a[0];
    int flags = a[0] % 2 ? GR_READ_WRITE : GR_WRITE_DISCARD;
    if (a[1] == a[2] || w->gl == GL_CONTEXTS || w->cuda == 1 || resource_at(w, a[1])->used ||
        resource_at(w, a[2])->used || ring_at(w, a[3])->life == LIVE)
        return false;
    run_gr_tensor_create(w, (const int[]){1, GR_MEMORY_DEVICE, STREAM_NONE, a[4]});
    for (int i = 0; i < SLOTS; i++)
        run_gr_create_gl_buffer(w, (const int[]){63, flags, set, a[1 + i]});
    return run_gr_ring_create(w, (const int[]){a[1], a[2], a[0] % 2 ? 3 : 1, a[3], a[5]});
}

/*
 * Frees the ring. The buffers of its acquired slots remain: they report size 0 and must still be
 * released.
 */
void ring_free(struct world *w, struct ring *ring)
{
    gr_buffer *out[ALL_SLOTS] = {NULL};
    for (int i = 0; i < ALL_SLOTS; i++)
        if (ring->slots[i].state == SLOT_WRITING || ring->slots[i].state == SLOT_READING)
            out[i] = ring->slots[i].it->buffer;
    gr_ring_free(ring->it);
    for (int i = 0; i < ALL_SLOTS; i++) {
        must(w, !out[i] || gr_buffer_ptr(out[i]) == 0);
        judge(w, gr_buffer_release(out[i]), 0);
    }
    ring_is_freed(ring);
}

bool run_gr_ring_free(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!is_ring_valid(w, ring))
        return false;
    gr_clear_error();
    if (ring)
        ring_free(w, ring);
    else
        gr_ring_free(NULL);
    judge(w, gr_last_error()->status, 0);
    return true;
}

bool run_gr_ring_stop(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!is_ring_valid(w, ring))
        return false;
    gr_ring_stop(ring_handle(ring));
    if (ring)
        ring->stopped = true;
    return true;
}

/* ---- Other slots ----------------------------------------------------------------------------- */

/* Whether the model has places for new slots beside those that stay until their frames are read. */
static bool has_room(const struct ring *ring)
{
    int used = 0;
    for (int i = 0; i < ALL_SLOTS; i++)
        used += ring->slots[i].state > SLOT_FREE;
    return used + SLOTS <= ALL_SLOTS;
}

/* The slots leave the ring: those in use once their frames are read or dropped. */
static void slots_leave(struct ring *ring)
{
    for (int i = 0; i < ALL_SLOTS; i++) {
        ring->slots[i].leaving = true;
        if (ring->slots[i].state == SLOT_FREE)
            slot_is_left(&ring->slots[i]);
    }
}

bool run_gr_ring_resize(struct world *w, const int *a)
{
    struct resource *list[SLOTS] = {resource_at(w, a[0]), resource_at(w, a[1])};
    struct ring *ring = ring_at(w, a[2]);
    gr_resource *const given[SLOTS] = {handle_of(list[0]), handle_of(list[1])};
    size_t n = a[3] == 0 ? 0 : SLOTS;
    if (!is_ring_valid(w, ring) || !can_create(w, a))
        return false;
    if (ring && !has_room(ring))
        return false;
    if (ring && ring->cuda_reads && (is_discarded(list[0]) || is_discarded(list[1])))
        return false;
    unsigned may = slots_may(w, list) | (ring && n ? 0 : MAY(GR_ERR_INVALID_VALUE));
    if (ring && list[0] && !are_alike(list[0], ring_resource(ring)))
        may |= MAY(GR_ERR_INVALID_VALUE);
    if (!judge(w, gr_ring_resize(ring_handle(ring), given, n), may))
        return true;
    slots_leave(ring);
    has_slots(ring, list);
    return true;
}

static int set_of(gr_transport transport)
{
    return transport == GR_TRANSPORT_SHARED ? 2 : transport == GR_TRANSPORT_COPY ? 3 : 1;
}

/* Resizes a ring to two new resources. */
bool run_ring_other(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!ring || !is_ring_valid(w, ring) || !has_room(ring) || a[1] == a[2] || w->cuda == 1 ||
        resource_at(w, a[1])->used || resource_at(w, a[2])->used)
        return false;
    const struct resource *like = ring_resource(ring);
    for (int i = 0; i < SLOTS; i++)
        run_gr_create_gl_buffer(
            w, (const int[]){63, (int)like->flags, set_of(like->transport), a[1 + i]});
    return run_gr_ring_resize(w, (const int[]){a[1], a[2], a[0], 1});
}

/*
 * Several calls on one ring in a row: random picks rarely make enough of them to have many slots in
 * different states.
 */
bool run_ring_calls(struct world *w, const int *a)
{
    static const char *const names[] = {
        "gr_ring_acquire_write", "gr_ring_acquire_write", "gr_ring_hand_over",
        "gr_ring_hand_over",     "gr_ring_cancel_write",  "gr_ring_acquire_read",
        "gr_ring_acquire_read",  "gr_ring_give_back",     "gr_ring_cancel_read",
    };
    bool made = false;
    for (int i = 2; ring_at(w, a[0]) && ring_at(w, a[0])->life == LIVE && i < 12; i++) {
        bool acquires = strstr(w->doing = names[a[i] % 9], "acquire");
        int number = a[i] * 7 % 256;
        w->refused = false;
        made |= entry_at(entry_named(w->doing))
                    ->run(w, acquires ? (const int[]){a[0], a[1], number, a[i]}
                                      : (const int[]){a[0], number, 0, 0});
        check_world(w);
    }
    w->refused = false;
    return made;
}

/* ---- State ----------------------------------------------------------------------------------- */

bool run_gr_ring_get_info(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (ring && ring->life != LIVE)
        return false;
    const gr_ring_info *info = gr_ring_get_info(ring_handle(ring));
    judge_made(w, info, ring ? 0 : MAY(GR_ERR_INVALID_VALUE));
    return true; /* check_world() compares the counts after each call */
}

bool run_gr_ring_descriptor(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    gr_ring_role role = (gr_ring_role)a[1];
    if (ring && ring->life != LIVE)
        return false;
    bool wrong = !ring || role < GR_RING_PRODUCER || role > GR_RING_CONSUMER;
    int descriptor = gr_ring_descriptor(ring_handle(ring), role);
    judge(w, descriptor >= 0 ? GR_OK : gr_last_error()->status,
          wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    return true;
}
