/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The slots of a ring: frames that the program or a tensor call writes and reads. */
#include "calls.h"

#include "outside.h"

#include <grinterop/publish.h>

/* ---- By hand ----------------------------------------------------------------------------- */

static struct slot *slot_of(struct world *w, struct ring *ring, const gr_slot *given)
{
    for (int i = 0; i < SLOTS; i++)
        if (ring->slots[i].resource->it == given->resource)
            return &ring->slots[i];
    fail(w, "the slot is not one of the ring's");
}

static void is_free(struct ring *ring, struct slot *slot)
{
    slot->state = SLOT_FREE;
    slot->free_since = ++ring->freed;
}

/* The slot that became free first. */
static struct slot *next_free(struct ring *ring)
{
    struct slot *next = NULL;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &ring->slots[i];
        if (slot->state == SLOT_FREE && (!next || slot->free_since < next->free_since))
            next = slot;
    }
    return next;
}

static struct slot *next_ready(struct ring *ring)
{
    struct slot *next = NULL;
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &ring->slots[i];
        if (slot->state == SLOT_READY && (!next || slot->frame < next->frame))
            next = slot;
    }
    return next;
}

/* The errors of an acquire that finds no slot or frame. */
static unsigned none_may(const struct ring *ring, bool writes)
{
    bool none = !ring_count(ring, writes ? SLOT_FREE : SLOT_READY);
    if (ring->stopped && (writes || none))
        return MAY(GR_ERR_STOPPED);
    return none ? MAY(GR_ERR_NOT_READY) : 0;
}

static unsigned side_may(const struct ring *ring, int choice, bool writes)
{
    bool cuda = choice < STREAMS || choice == STREAM_LEGACY || choice == STREAM_PER_THREAD;
    bool is_cuda_slot = ring && writes != ring->cuda_reads;
    return (is_cuda_slot ? cuda : choice == STREAM_NONE) ? 0 : MAY(GR_ERR_INVALID_VALUE);
}

/* Whether the stream is one of the ring's context, or a special stream. */
static bool is_side_valid(const struct world *w, int choice)
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

/*
 * The stream argument. Usually corrected to GR_STREAM_NONE for the OpenGL side, which has no
 * stream.
 */
static int side_of(const struct ring *ring, const int *a, bool writes)
{
    bool graphics = ring && writes == ring->cuda_reads;
    return graphics && a[2] % 8 ? STREAM_NONE : a[1];
}

static bool run_gr_ring_acquire_write(struct world *w, const int *a)
{
    const gr_slot *given = NULL;
    struct ring *ring = ring_at(w, a[0]);
    int choice = side_of(ring, a, true);
    if (!is_ring_valid(w, ring) || !is_side_valid(w, choice))
        return false;
    unsigned may = side_may(ring, choice, true);
    may |= ring ? none_may(ring, true) : MAY(GR_ERR_INVALID_VALUE);
    CUstream stream = stream_at(w, choice);
    if (!judge(w, gr_ring_acquire_write(ring_handle(ring), stream, &given, 1, 0), may))
        return true;
    struct slot *slot = slot_of(w, ring, given);
    must(w, slot == next_free(ring) && !given->buffer == ring->cuda_reads && !given->submit);
    slot->state = SLOT_WRITING;
    slot->it = given;
    slot->stream = stream;
    if (given->buffer)
        write_slot(w, slot, stream, a[2]);
    else
        fill_gl(w, slot->resource->object, slot->value = a[2]);
    return true;
}

/*
 * Compares the contents of a slot as the reading side sees them: OpenGL, or CUDA through its
 * stream.
 */
static void check_slot(struct world *w, const struct slot *slot)
{
    unsigned char bytes[MOST_BYTES];
    struct object *o = slot->resource->object;
    bytes_are(o, 0, slot->resource->size, slot->value);
    if (!slot->it->buffer) {
        compare_gl(w, o);
        return;
    }
    int before = w->cuda;
    use_cuda(w, 0);
    CUdeviceptr from = gr_buffer_ptr(slot->it->buffer);
    need_cuda(w, w->cu->MemcpyDtoHAsync(bytes, from, slot->resource->size, slot->stream),
              "cuMemcpyDtoHAsync");
    need_cuda(w, w->cu->StreamSynchronize(slot->stream), "cuStreamSynchronize");
    use_cuda(w, before);
    compare(w, o, bytes, 0, slot->resource->size);
}

/* Acquires the oldest frame. */
static bool run_gr_ring_acquire_read(struct world *w, const int *a)
{
    const gr_slot *given = NULL;
    struct ring *ring = ring_at(w, a[0]);
    int choice = side_of(ring, a, false);
    if (!is_ring_valid(w, ring) || !is_side_valid(w, choice))
        return false;
    unsigned may = side_may(ring, choice, false);
    may |= ring ? none_may(ring, false) : MAY(GR_ERR_INVALID_VALUE);
    if (!judge(w, gr_ring_acquire_read(ring_handle(ring), stream_at(w, choice), &given, 1, 0), may))
        return true;
    struct slot *slot = slot_of(w, ring, given);
    must(w, slot == next_ready(ring) && given->frame == slot->frame);
    must(w, !given->buffer == !ring->cuda_reads && !given->submit);
    slot->state = SLOT_READING;
    slot->it = given;
    slot->stream = stream_at(w, choice);
    check_slot(w, slot);
    return true;
}

typedef gr_status (*hand_on_fn)(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Hands over, gives back or cancels an acquired slot, which may be NULL or belong to the other
 * side. Returns the slot if the call succeeded.
 */
static struct slot *hand_over(struct world *w, const int *a, hand_on_fn call, enum slot_state from,
                              bool *made)
{
    struct ring *ring = ring_at(w, a[0]);
    struct slot *slot = NULL;
    *made = is_ring_valid(w, ring);
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
    gr_status status = call(ring_handle(ring), slot ? &given : NULL, slot ? 1 : 0);
    judge(w, status, may);
    return status == GR_OK ? slot : NULL;
}

static bool run_gr_ring_hand_over(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_over(w, a, gr_ring_hand_over, SLOT_WRITING, &made);
    if (!slot)
        return made;
    slot->state = SLOT_READY;
    slot->frame = ++ring_at(w, a[0])->written;
    return true;
}

static bool run_gr_ring_cancel_write(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_over(w, a, gr_ring_cancel_write, SLOT_WRITING, &made);
    if (slot)
        is_free(ring_at(w, a[0]), slot);
    return made;
}

static bool run_gr_ring_give_back(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_over(w, a, gr_ring_give_back, SLOT_READING, &made);
    if (!slot)
        return made;
    is_free(ring_at(w, a[0]), slot);
    ring_at(w, a[0])->read++;
    return true;
}

static bool run_gr_ring_cancel_read(struct world *w, const int *a)
{
    bool made;
    struct slot *slot = hand_over(w, a, gr_ring_cancel_read, SLOT_READING, &made);
    if (slot)
        slot->state = SLOT_READY;
    return made;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static bool is_for_tensors(const struct world *w, const struct ring *ring, int choice)
{
    return w->cuda != 1 && is_ring_valid(w, ring) && choice < STREAMS && is_side_valid(w, choice);
}

static unsigned tensor_may(const struct ring *ring, const struct tensor *t, bool fetched)
{
    if (!t)
        return MAY(GR_ERR_INVALID_VALUE);
    unsigned may = t->revoked || (fetched && t->read_only) ? MAY(GR_ERR_STATE) : 0;
    bool past = ring && t->size > ring->slots[0].resource->size;
    if (fetched && is_discarded(ring ? ring->slots[0].resource : NULL))
        may |= MAY(GR_ERR_STATE);
    return may | (past ? MAY(GR_ERR_INVALID_VALUE) : 0);
}

/* The value that all bytes of the tensor have, or UNKNOWN. */
static int value_of(const struct tensor *t, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (t->size < size || t->bytes[i] != t->bytes[0])
            return UNKNOWN;
    return t->bytes[0];
}

static bool run_gr_ring_publish_tensor(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if ((t && (t->life != LIVE || t->resource)) || !is_for_tensors(w, ring, a[2]))
        return false;
    unsigned may = side_may(ring, a[2], true) | tensor_may(ring, t, false);
    may |= ring ? none_may(ring, true) : MAY(GR_ERR_INVALID_VALUE);
    gr_status status =
        gr_ring_publish_tensor(ring_handle(ring), t ? t->it : NULL, NULL, stream_at(w, a[2]), 0);
    if (!judge(w, status, may))
        return true;
    struct slot *slot = next_free(ring);
    must(w, slot);
    slot->state = SLOT_READY;
    slot->frame = ++ring->written;
    slot->value = value_of(t, slot->resource->size);
    return true;
}

/* Fetches the oldest frame into a tensor. The slot of the frame is free afterwards. */
static bool run_gr_ring_fetch_tensor(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if ((t && (t->life != LIVE || t->resource)) || !is_for_tensors(w, ring, a[2]))
        return false;
    unsigned may = side_may(ring, a[2], false) | tensor_may(ring, t, true);
    may |= ring ? none_may(ring, false) : MAY(GR_ERR_INVALID_VALUE);
    gr_status status =
        gr_ring_fetch_tensor(ring_handle(ring), t ? t->it : NULL, NULL, stream_at(w, a[2]), 0);
    if (!judge(w, status, may))
        return true;
    struct slot *oldest = next_ready(ring);
    must(w, oldest);
    for (size_t i = 0; i < t->size; i++)
        t->bytes[i] = (short)oldest->value;
    is_free(ring, oldest);
    ring->read++;
    return true;
}

const struct entry calls_slot[] = {
    CALL(gr_ring_acquire_write, 40, "psn"),
    CALL(gr_ring_acquire_read, 30, "psn"),
    CALL(gr_ring_hand_over, 35, "p"),
    CALL(gr_ring_cancel_write, 6, "p"),
    CALL(gr_ring_give_back, 20, "p"),
    CALL(gr_ring_cancel_read, 10, "p"),
    CALL(gr_ring_publish_tensor, 30, "pts"),
    CALL(gr_ring_fetch_tensor, 30, "pts"),
    {0},
};
