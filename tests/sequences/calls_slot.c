/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The slots of a ring: frames that the program or a tensor call writes and reads. */
#include "calls.h"

#include "outside.h"
#include "tests/ring/ring_tensor.h"

/* ---- By hand ----------------------------------------------------------------------------- */

/* The oldest frame, or the slot that has been free for longest. */
static struct slot *oldest(struct ring *ring, enum slot_state state, bool also_leaving)
{
    struct slot *found = NULL;
    for (int i = 0; i < ALL_SLOTS; i++) {
        struct slot *slot = &ring->slots[i];
        if (slot->state == state && (also_leaving || !slot->leaving) &&
            (!found || slot->turn < found->turn))
            found = slot;
    }
    return found;
}

static void drop_older(struct ring *ring, uint64_t frame)
{
    struct slot *slot;
    while ((slot = oldest(ring, SLOT_READY, true)) && slot->turn < frame) {
        ring->dropped++;
        slot_is_free(ring, slot);
    }
}

/* The number of slots that an acquire may ask for. */
static size_t most_slots(const struct ring *ring, bool writes)
{
    size_t most = SLOTS;
    for (int i = 0; i < ALL_SLOTS && !writes; i++)
        most += ring->slots[i].state != SLOT_NONE && ring->slots[i].leaving;
    return most;
}

/* The errors of an acquire of n slots or frames. */
static unsigned none_may(const struct ring *ring, size_t n, bool writes)
{
    if (!ring || n == 0 || n > most_slots(ring, writes))
        return MAY(GR_ERR_INVALID_VALUE);
    unsigned there = ring_count(ring, writes ? SLOT_FREE : SLOT_READY, true);
    if (writes && ring->newest)
        there += ring_count(ring, SLOT_READY, false);
    if (ring->stopped && (writes || there < n))
        return MAY(GR_ERR_STOPPED);
    return there < n ? MAY(GR_ERR_NOT_READY) : 0;
}

/* Takes the slots that an acquire for writing must get. */
static void take_to_write(struct ring *ring, struct slot *list[], size_t n)
{
    uint64_t overwritten = 0;
    for (size_t i = 0; i < n; i++) {
        struct slot *slot = oldest(ring, SLOT_FREE, true);
        if (!slot) {
            slot = oldest(ring, SLOT_READY, false);
            overwritten = slot->turn;
            ring->dropped++;
        }
        slot->state = SLOT_WRITING;
        list[i] = slot;
    }
    drop_older(ring, overwritten);
}

/* Takes the frames that an acquire for reading must get: the next n, or the newest n. */
static void take_to_read(struct ring *ring, struct slot *list[], size_t n)
{
    while (ring->newest && ring_count(ring, SLOT_READY, true) > n)
        drop_older(ring, oldest(ring, SLOT_READY, true)->turn + 1);
    for (size_t i = 0; i < n; i++) {
        list[i] = oldest(ring, SLOT_READY, true);
        list[i]->state = SLOT_READING;
    }
}

static void is_frame(struct ring *ring, struct slot *slot)
{
    slot->state = SLOT_READY;
    slot->turn = ++ring->written;
}

static void is_read(struct ring *ring, struct slot *slot)
{
    ring->read++;
    if (slot->turn > ring->given_back)
        ring->given_back = slot->turn;
    slot_is_free(ring, slot);
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

/* How many slots a call acquires: usually one or all, sometimes a number that may be wrong. */
static size_t batch_of(int number)
{
    return (size_t)(number < 192 ? 1 + number % SLOTS : number % (ALL_SLOTS + 2));
}

static void is_acquired(struct world *w, struct slot *slot, const gr_slot *given, CUstream stream)
{
    must(w, given->resource == slot->resource->it && !given->submit);
    must(w, given->index == slot->index);
    must(w, !given->buffer == (stream == GR_STREAM_NONE));
    slot->it = given;
    slot->stream = stream;
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

static void fill_slot(struct world *w, struct slot *slot, int value)
{
    if (slot->it->buffer)
        write_slot(w, slot, slot->stream, value);
    else
        fill_gl(w, slot->resource->object, slot->value = value);
}

static bool acquire(struct world *w, const int *a, bool writes)
{
    const gr_slot *given[ALL_SLOTS + 2] = {NULL};
    struct slot *list[ALL_SLOTS];
    struct ring *ring = ring_at(w, a[0]);
    int choice = side_of(ring, a, writes);
    size_t n = batch_of(a[3]);
    if (!is_ring_valid(w, ring) || !is_side_valid(w, choice))
        return false;
    unsigned may = side_may(ring, choice, writes) | none_may(ring, n, writes);
    CUstream stream = stream_at(w, choice);
    gr_status status = (writes ? gr_ring_acquire_write : gr_ring_acquire_read)(ring_handle(ring),
                                                                               stream, given, n, 0);
    if (!judge(w, status, may))
        return true;
    uint64_t next = ring->written + ring_count(ring, SLOT_WRITING, true) + 1;
    (writes ? take_to_write : take_to_read)(ring, list, n);
    for (size_t i = 0; i < n; i++) {
        is_acquired(w, list[i], given[i], stream);
        must(w, given[i]->frame == (writes ? next + i : list[i]->turn));
        if (writes)
            fill_slot(w, list[i], (a[2] + (int)i) % 256);
        else
            check_slot(w, list[i]);
    }
    return true;
}

bool run_gr_ring_acquire_write(struct world *w, const int *a)
{
    return acquire(w, a, true);
}

bool run_gr_ring_acquire_read(struct world *w, const int *a)
{
    return acquire(w, a, false);
}

/* Slots to hand on together, and the errors that this may cause. */
struct batch {
    struct slot *slots[ALL_SLOTS + 1];
    size_t n;
    unsigned may;
};

/* Picks slots in that state, in any order. Sometimes adds one of the other side, or one twice. */
static struct batch pick_batch(struct ring *ring, int number, enum slot_state state)
{
    struct batch batch = {.n = 0};
    struct slot *other = NULL;
    for (int i = 0; ring && i < ALL_SLOTS; i++) {
        struct slot *slot = &ring->slots[(number + i) % ALL_SLOTS];
        if (slot->state == state && (batch.n == 0 || number >> (4 + i) & 1))
            batch.slots[batch.n++] = slot;
        else if (slot->state == (state == SLOT_WRITING ? SLOT_READING : SLOT_WRITING))
            other = slot;
    }
    if (batch.n > 0 && number % 16 < 14)
        return batch;
    batch.may = MAY(other ? GR_ERR_STATE : GR_ERR_INVALID_VALUE);
    if (other || batch.n > 0) {
        batch.slots[batch.n] = other ? other : batch.slots[0];
        batch.n++;
    }
    return batch;
}

typedef gr_status (*hand_on_fn)(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* Makes the call, and then each_is(), the effect on a slot. Returns whether there is an effect. */
static bool hand_on(struct world *w, const int *a, hand_on_fn call, enum slot_state state,
                    void (*each_is)(struct ring *ring, struct slot *slot))
{
    struct ring *ring = ring_at(w, a[0]);
    if (!is_ring_valid(w, ring))
        return false;
    const gr_slot *given[ALL_SLOTS + 1];
    const struct batch batch = pick_batch(ring, a[1], state);
    if (ring && batch.n == 0 && a[1] % 8)
        return false;
    for (size_t i = 0; i < batch.n; i++)
        given[i] = batch.slots[i]->it;
    if (judge(w, call(ring_handle(ring), batch.n ? given : NULL, batch.n), batch.may))
        for (size_t i = 0; i < batch.n; i++) {
            must(w, !given[i]->buffer);
            each_is(ring, batch.slots[i]);
        }
    return true;
}

bool run_gr_ring_hand_over(struct world *w, const int *a)
{
    return hand_on(w, a, gr_ring_hand_over, SLOT_WRITING, is_frame);
}

bool run_gr_ring_cancel_write(struct world *w, const int *a)
{
    return hand_on(w, a, gr_ring_cancel_write, SLOT_WRITING, slot_is_free);
}

bool run_gr_ring_give_back(struct world *w, const int *a)
{
    return hand_on(w, a, gr_ring_give_back, SLOT_READING, is_read);
}

static void is_unread(struct ring *ring, struct slot *slot)
{
    (void)ring;
    slot->state = SLOT_READY;
}

/* In GR_RING_NEWEST, a newer frame that is being read or was given back replaces the unread one. */
bool run_gr_ring_cancel_read(struct world *w, const int *a)
{
    struct ring *ring = ring_at(w, a[0]);
    if (!hand_on(w, a, gr_ring_cancel_read, SLOT_READING, is_unread))
        return false;
    if (w->refused || !ring->newest)
        return true;
    uint64_t newest = ring->given_back;
    for (int i = 0; i < ALL_SLOTS; i++)
        if (ring->slots[i].state == SLOT_READING && ring->slots[i].turn > newest)
            newest = ring->slots[i].turn;
    drop_older(ring, newest);
    return true;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static bool is_for_tensors(const struct world *w, const struct ring *ring, int choice)
{
    return w->cuda != 1 && is_ring_valid(w, ring) && choice < STREAMS && is_side_valid(w, choice);
}

/*
 * Others are refused after the acquire, whose undo changes the order of the slots. Memory that
 * graphics draws may be written through its mapping before the stream has read it.
 */
static bool is_tensor_for(const struct world *w, const struct ring *ring, const struct tensor *t,
                          bool fetched)
{
    const struct resource *like = ring ? ring_resource(ring) : NULL;
    return t && t->life == LIVE && !drawn_by(w, t) && !t->resource && !t->revoked &&
           !(like && t->size > like->size) && !(fetched && (t->read_only || is_discarded(like)));
}

/* The value that all bytes of the tensor have, or UNKNOWN. */
static int value_of(const struct tensor *t, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (t->size < size || t->bytes[i] != t->bytes[0])
            return UNKNOWN;
    return t->bytes[0];
}

static bool with_tensor(struct world *w, const int *a, bool fetched)
{
    struct ring *ring = ring_at(w, a[0]);
    struct tensor *t = tensor_at(w, a[1]);
    if (!is_for_tensors(w, ring, a[2]) || !is_tensor_for(w, ring, t, fetched))
        return false;
    unsigned may = side_may(ring, a[2], !fetched) | none_may(ring, 1, !fetched);
    CUstream stream = stream_at(w, a[2]);
    gr_status status = fetched ? ring_fetch(ring_handle(ring), t->it, stream, 0)
                               : ring_publish(ring_handle(ring), t->it, stream, 0);
    if (!judge(w, status, may))
        return true;
    struct slot *slot;
    (fetched ? take_to_read : take_to_write)(ring, &slot, 1);
    if (fetched) {
        for (size_t i = 0; i < t->size; i++)
            t->bytes[i] = (short)slot->value;
        is_read(ring, slot);
    } else {
        is_frame(ring, slot);
        slot->value = value_of(t, slot->resource->size);
    }
    return true;
}

bool run_ring_publish(struct world *w, const int *a)
{
    return with_tensor(w, a, false);
}

bool run_ring_fetch(struct world *w, const int *a)
{
    return with_tensor(w, a, true);
}
