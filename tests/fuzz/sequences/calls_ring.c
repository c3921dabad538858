/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of two of OpenGL's buffers, which CUDA writes and OpenGL reads, without loss, both on this
 * thread. tests/ring_walk.c goes deeper; here they meet the other calls on their resources.
 */
#include "calls.h"

#include "outside.h"

static struct ring *ring_at(struct world *w, int place)
{
    return place >= 0 && place < RINGS ? &w->rings[place] : NULL;
}

/* NULL, or one that lives and whose context is current. */
static bool can_be_given(const struct world *w, const struct ring *ring)
{
    return !ring || (ring->life == LIVE && is_here(w, ring->slots[0].resource));
}

static gr_ring *it(const struct ring *ring)
{
    return ring ? ring->it : NULL;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* What only a map finds, and what is not to be written, is left to the calls of maps. */
static bool can_be_slot(const struct resource *r)
{
    const struct object *o = r->object;
    return r->life == LIVE && !r->gone && !r->begun && !r->later && !r->kept && r->cuda == 0 &&
           o->context != ANY_CONTEXT && !r->image && !o->deleted && o->size == r->size &&
           !(r->flags & GR_READ_ONLY) && (r->ring || r->mapped || !o->mapped);
}

static bool create_can_be(struct world *w, const int *a)
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
    return (r->mapped || r->closed || r->ring ? MAY(GR_ERR_STATE) : 0) | context_may(w, r);
}

static void is_made(struct ring *ring, gr_ring *made, struct resource *const list[])
{
    *ring = (struct ring){.life = LIVE, .it = made};
    for (int i = 0; i < SLOTS; i++) {
        ring->slots[i].resource = list[i];
        list[i]->ring = ring;
        list[i]->object->ringed = true;
        list[i]->object->mapped++;
    }
}

static bool run_gr_ring_create(struct world *w, const int *a)
{
    struct resource *list[SLOTS] = {resource_at(w, a[0]), resource_at(w, a[1])};
    struct ring *ring = ring_at(w, a[3]);
    gr_resource *const given[SLOTS] = {handle_of(list[0]), handle_of(list[1])};
    size_t n = a[2] == 0 ? 0 : SLOTS;
    if (ring->life == LIVE || !create_can_be(w, a))
        return false;
    unsigned may = slot_may(w, list[0]) | slot_may(w, list[1]);
    if (list[0] && list[1] &&
        (list[0]->size != list[1]->size || list[0]->transport != list[1]->transport ||
         list[0]->object->context != list[1]->object->context))
        may |= MAY(GR_ERR_INVALID_VALUE);
    gr_ring *made = gr_ring_create(given, n, NULL);
    judge_made(w, made, n ? may : MAY(GR_ERR_INVALID_VALUE));
    if (made)
        is_made(ring, made, list);
    return true;
}

static bool run_other(struct world *w, const char *name, const int *a)
{
    return entry_at(entry_named(name))->run(w, a);
}

/* Two resources that are alike are rare, so a sequence may begin with a ring of such. */
static bool run_ring_ready(struct world *w, const int *a)
{
    int set = a[0] == 2 && !w->shared_works ? 1 : a[0] == 0 ? 3 : a[0];
    int flags = a[0] % 2 ? GR_READ_WRITE : GR_WRITE_DISCARD;
    if (a[1] == a[2] || w->gl == GL_CONTEXTS || w->cuda == 1 || resource_at(w, a[1])->used ||
        resource_at(w, a[2])->used || ring_at(w, a[3])->life == LIVE)
        return false;
    for (int i = 0; i < SLOTS; i++)
        run_other(w, "gr_gl_buffer_create", (const int[]){62, flags, set, a[1 + i]});
    return run_other(w, "gr_ring_create", (const int[]){a[1], a[2], 1, a[3]});
}

/* Slots that are out leave their buffers, which report 0 and are still to be released. */
void ring_free(struct world *w, struct ring *ring)
{
    gr_buffer *out[SLOTS] = {NULL};
    for (int i = 0; i < SLOTS; i++)
        if (ring->slots[i].state == SLOT_WRITING)
            out[i] = ring->slots[i].it->buffer;
    gr_ring_free(ring->it);
    for (int i = 0; i < SLOTS; i++) {
        must(w, !out[i] || gr_buffer_ptr(out[i]) == 0);
        judge(w, gr_buffer_release(out[i]), 0);
    }
    ring_is_freed(ring);
}

static bool run_gr_ring_free(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!can_be_given(w, ring))
        return false;
    gr_clear_error();
    if (ring)
        ring_free(w, ring);
    else
        gr_ring_free(NULL);
    judge(w, gr_last_error()->status, 0);
    return true;
}

static bool run_gr_ring_stop(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!can_be_given(w, ring))
        return false;
    gr_ring_stop(it(ring));
    if (ring)
        ring->stopped = true;
    return true;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

static unsigned count(const struct ring *ring, enum slot_state state)
{
    unsigned found = 0;
    for (int i = 0; i < SLOTS; i++)
        found += ring->slots[i].state == state;
    return found;
}

static struct slot *slot_of(struct world *w, struct ring *ring, const gr_slot *given)
{
    for (int i = 0; i < SLOTS; i++)
        if (ring->slots[i].resource->it == given->resource)
            return &ring->slots[i];
    fail(w, "a slot that is none of the ring's");
}

/* What an acquire gives where there is none. */
static unsigned none_may(const struct ring *ring, bool writes)
{
    bool none = !count(ring, writes ? SLOT_FREE : SLOT_READY);
    if (ring->stopped && (writes || none))
        return MAY(GR_ERR_STOPPED);
    return none ? MAY(GR_ERR_NOT_READY) : 0;
}

static unsigned side_may(const struct world *w, int choice, bool writes)
{
    bool cuda = choice < STREAMS || choice == STREAM_LEGACY || choice == STREAM_PER_THREAD;
    (void)w;
    return (writes ? cuda : choice == STREAM_NONE) ? 0 : MAY(GR_ERR_INVALID_VALUE);
}

/* A stream of the ring's context, or a word. */
static bool can_be_side(const struct world *w, int choice)
{
    return choice >= STREAMS || (w->streams[choice].life == LIVE && w->streams[choice].cuda == 0);
}

static void write_slot(struct world *w, struct slot *slot, CUstream stream, int value)
{
    int before = w->cuda;
    use_cuda(w, 0);
    slot->value = value;
    need_cuda(w,
              w->cu->MemsetD8Async(gr_buffer_ptr(slot->it->buffer), (unsigned char)value,
                                   slot->resource->size, stream),
              "cuMemsetD8Async");
    use_cuda(w, before);
}

static bool run_gr_ring_acquire_write(struct world *w, const int *a)
{
    const gr_slot *given = NULL;
    struct ring *ring = ring_at(w, a[0]);
    if (!can_be_given(w, ring) || !can_be_side(w, a[1]))
        return false;
    unsigned may = side_may(w, a[1], true);
    may |= ring ? none_may(ring, true) : MAY(GR_ERR_INVALID_VALUE);
    CUstream stream = stream_at(w, a[1]);
    gr_status status = gr_ring_acquire_write(it(ring), stream, &given, 1, 0);
    judge(w, status, may);
    if (status != GR_OK)
        return true;
    struct slot *slot = slot_of(w, ring, given);
    must(w, slot->state == SLOT_FREE && given->buffer && !given->submit);
    slot->state = SLOT_WRITING;
    slot->it = given;
    slot->stream = stream;
    write_slot(w, slot, stream, a[2]);
    return true;
}

/* The oldest frame, whose bytes OpenGL has then. */
static bool run_gr_ring_acquire_read(struct world *w, const int *a)
{
    const gr_slot *given = NULL;
    struct ring *ring = ring_at(w, a[0]);
    int choice = a[2] ? STREAM_NONE : a[1];
    if (!can_be_given(w, ring) || !can_be_side(w, choice))
        return false;
    unsigned may = side_may(w, choice, false);
    may |= ring ? none_may(ring, false) : MAY(GR_ERR_INVALID_VALUE);
    gr_status status = gr_ring_acquire_read(it(ring), stream_at(w, choice), &given, 1, 0);
    judge(w, status, may);
    if (status != GR_OK)
        return true;
    struct slot *slot = slot_of(w, ring, given);
    must(w, slot->state == SLOT_READY && !given->buffer && given->frame == slot->frame);
    for (int i = 0; i < SLOTS; i++)
        must(w, ring->slots[i].state != SLOT_READY || ring->slots[i].frame >= slot->frame);
    slot->state = SLOT_READING;
    slot->it = given;
    bytes_are(slot->resource->object, 0, slot->resource->size, slot->value);
    compare_gl(w, slot->resource->object);
    return true;
}

typedef gr_status (*hand_on_fn)(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* One that is out, which may be the other side's; NULL: none is handed on. The slot, if it was. */
static struct slot *hand_on(struct world *w, const int *a, hand_on_fn call, enum slot_state from,
                            bool *made)
{
    struct ring *ring = ring_at(w, a[0]);
    struct slot *slot = NULL;
    *made = can_be_given(w, ring);
    for (int i = 0; *made && ring && i < SLOTS; i++) {
        struct slot *s = &ring->slots[i];
        bool out = s->state == SLOT_WRITING || s->state == SLOT_READING;
        if (out && (!slot || s->state == from))
            slot = s;
    }
    if (!*made)
        return NULL;
    const gr_slot *const given = slot ? slot->it : NULL;
    unsigned may = !slot ? MAY(GR_ERR_INVALID_VALUE) : slot->state != from ? MAY(GR_ERR_STATE) : 0;
    gr_status status = call(it(ring), slot ? &given : NULL, slot ? 1 : 0);
    judge(w, status, may);
    return status == GR_OK ? slot : NULL;
}

static bool run_gr_ring_publish(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_on(w, a, gr_ring_publish, SLOT_WRITING, &made);
    if (!slot)
        return made;
    slot->state = SLOT_READY;
    slot->frame = ++ring_at(w, a[0])->published;
    return true;
}

static bool run_gr_ring_cancel_write(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_on(w, a, gr_ring_cancel_write, SLOT_WRITING, &made);
    if (slot)
        slot->state = SLOT_FREE;
    return made;
}

static bool run_gr_ring_give_back(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_on(w, a, gr_ring_give_back, SLOT_READING, &made);
    if (!slot)
        return made;
    slot->state = SLOT_FREE;
    ring_at(w, a[0])->read++;
    return true;
}

static bool run_gr_ring_cancel_read(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_on(w, a, gr_ring_cancel_read, SLOT_READING, &made);
    if (slot)
        slot->state = SLOT_READY;
    return made;
}

/* ---- What is in it --------------------------------------------------------------------------- */

static bool run_gr_ring_get_info(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (ring && ring->life != LIVE)
        return false;
    const gr_ring_info *info = gr_ring_get_info(it(ring));
    judge_made(w, info, ring ? 0 : MAY(GR_ERR_INVALID_VALUE));
    if (!info)
        return true;
    must(w, info->published == ring->published && info->read == ring->read && !info->dropped);
    must(w, info->slots == SLOTS && info->free == count(ring, SLOT_FREE));
    must(w, info->writing == count(ring, SLOT_WRITING) && info->ready == count(ring, SLOT_READY) &&
                info->reading == count(ring, SLOT_READING));
    return true;
}

static bool run_gr_ring_descriptor(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    gr_ring_role role = (gr_ring_role)a[1];
    if (ring && ring->life != LIVE)
        return false;
    bool wrong = !ring || role < GR_RING_PRODUCER || role > GR_RING_CONSUMER;
    int descriptor = gr_ring_descriptor(it(ring), role);
    judge(w, descriptor >= 0 ? GR_OK : gr_last_error()->status,
          wrong ? MAY(GR_ERR_INVALID_VALUE) : 0);
    return true;
}

const struct entry calls_ring[] = {
    STEP(ring_ready, 20, "dRRP"),
    CALL(gr_ring_create, 15, "yydP"),
    CALL(gr_ring_free, 6, "p"),
    CALL(gr_ring_stop, 3, "p"),
    CALL(gr_ring_acquire_write, 40, "psn"),
    CALL(gr_ring_acquire_read, 30, "psd"),
    CALL(gr_ring_publish, 35, "p"),
    CALL(gr_ring_cancel_write, 6, "p"),
    CALL(gr_ring_give_back, 20, "p"),
    CALL(gr_ring_cancel_read, 5, "p"),
    CALL(gr_ring_get_info, 8, "p"),
    CALL(gr_ring_descriptor, 4, "pd"),
    {0},
};
