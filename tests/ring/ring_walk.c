/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A random walk over all calls on a ring, in each mode and direction, with valid and invalid
 * arguments. A model predicts the result of each call, the frame in each slot, and how many slots
 * are in each state.
 */
#define _GNU_SOURCE
#include "ring.h"
#include "tests/support/random_walk.h"

#include <string.h>

#ifndef SEED
#define SEED 20261120u
#endif
#define MOST_SLOTS 18 /* the maximum number of slots, including leaving ones */
#define MOST_NEW   9
#define NAMES      (MOST_SLOTS + MOST_NEW)

/* ---- The model ------------------------------------------------------------------------------- */

enum state { NONE, FREE, WRITING, READY, READING, RETURNING };

static struct slot {
    enum state state;
    bool leaving;
    const gr_slot *it; /* the acquired slot, while it is written or read */
    gr_buffer *buffer; /* the mapping of the acquired slot */
    uint64_t frame;    /* only for READY and READING */
    uint64_t turn;     /* the order of free slots; only for FREE and RETURNING */
    int value;         /* the value of all its bytes */
    gr_resource *resource;
} slots[NAMES];

static gr_ring *ring;
static gr_side producer;
static bool newest, puts_off;
static uint64_t written, read_frames, dropped, turn;
static int step;
static const char *doing;

#define check(condition)                                                                           \
    ck_assert_msg(condition, "seed %u, step %d, %s: not so: %s; %s", SEED, step, doing,            \
                  #condition, error_text())

static uint32_t state = SEED;

static unsigned pick(unsigned n)
{
    return walk_random(&state, n);
}

static unsigned count(enum state what, bool leaving_too)
{
    unsigned found = 0;
    for (int i = 0; i < NAMES; i++)
        found += slots[i].state == what && (leaving_too || !slots[i].leaving);
    return found;
}

static void is_free_now(struct slot *s)
{
    s->state = s->leaving ? NONE : FREE;
    s->turn = ++turn;
}

static void is_dropped_now(struct slot *s)
{
    dropped++;
    is_free_now(s);
}

static struct slot *slot_of(const gr_slot *given)
{
    for (int i = 0; i < NAMES; i++)
        if (slots[i].state != NONE && slots[i].resource == given->resource)
            return &slots[i];
    check(!"a slot that is none of the ring's");
    return NULL;
}

/*
 * The slot that is acquired next: the one with the oldest frame, or the free slot that was freed
 * first.
 */
static struct slot *oldest(enum state what, bool leaving_too)
{
    struct slot *best = NULL;
    for (int i = 0; i < NAMES; i++) {
        struct slot *s = &slots[i];
        if (s->state != what || (s->leaving && !leaving_too))
            continue;
        if (!best || (what == FREE ? s->turn < best->turn : s->frame < best->frame))
            best = s;
    }
    return best;
}

static void drop_older(uint64_t frame)
{
    struct slot *s;
    while ((s = oldest(READY, true)) && s->frame < frame)
        is_dropped_now(s);
}

/* One OpenGL signal covers all slots whose signal was deferred, and frees them. */
static void end_returning(void)
{
    for (int i = 0; i < NAMES; i++)
        if (slots[i].state == RETURNING)
            slots[i].state = FREE;
}

/* Whether OpenGL's signal for these slots is deferred. */
static bool is_put_off(const gr_slot *const picked[], size_t n)
{
    unsigned all = 0;
    for (enum state s = FREE; s <= RETURNING; s++)
        all += count(s, false);
    for (size_t i = 0; i < n; i++)
        if (slot_of(picked[i])->leaving)
            return false;
    return puts_off && count(RETURNING, true) + n < all / 2;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static gr_status wrong_number(size_t n, size_t most)
{
    return n == 0 || n > most ? GR_ERR_INVALID_VALUE : GR_OK;
}

static CUstream pick_stream(bool writing, gr_status *may)
{
    CUstream right = ring_stream(producer, writing);
    if (pick(12) != 0)
        return right != GR_STREAM_NONE && pick(2) ? fx.other : right;
    *may = GR_ERR_INVALID_VALUE;
    return right != GR_STREAM_NONE ? GR_STREAM_NONE : pick(2) ? fx.stream : NULL;
}

static void step_acquire_write(void)
{
    const gr_slot *got[NAMES];
    gr_status may = GR_OK;
    unsigned all = 0;
    for (enum state s = FREE; s <= RETURNING; s++)
        all += count(s, false);
    size_t n = pick(4) == 0 ? pick(MOST_NEW + 2) : 1;
    CUstream stream = pick_stream(true, &may);
    if (may == GR_OK)
        may = wrong_number(n, all);
    if (may == GR_OK && count(FREE, false) < n)
        end_returning();
    if (may == GR_OK && count(FREE, false) + (newest ? count(READY, false) : 0) < n)
        may = GR_ERR_NOT_READY;
    gr_clear_error();
    check(gr_ring_acquire_write(ring, stream, got, n, 0) == may);
    if (may != GR_OK)
        return;
    uint64_t expected = written + count(WRITING, true) + 1, newest_dropped = 0;
    for (size_t i = 0; i < n; i++) {
        bool free = count(FREE, false) > 0;
        struct slot *s = oldest(free ? FREE : READY, false);
        check(got[i]->resource == s->resource && got[i]->frame == expected + i);
        if (!free) {
            newest_dropped = s->frame;
            dropped++;
        }
        s->state = WRITING;
        s->it = got[i];
        s->buffer = got[i]->buffer;
    }
    drop_older(newest_dropped);
}

static void step_acquire_read(void)
{
    const gr_slot *got[NAMES];
    gr_status may = GR_OK;
    unsigned all = 0;
    for (int i = 0; i < NAMES; i++)
        all += slots[i].state != NONE;
    size_t n = pick(4) == 0 ? pick(MOST_NEW + 2) : 1;
    CUstream stream = pick_stream(false, &may);
    if (may == GR_OK)
        may = wrong_number(n, all);
    if (may == GR_OK && count(READY, true) < n) {
        end_returning();
        may = GR_ERR_NOT_READY;
    }
    gr_clear_error();
    check(gr_ring_acquire_read(ring, stream, got, n, 0) == may);
    if (may != GR_OK)
        return;
    /* Drops all frames but the newest n. */
    while (newest && count(READY, true) > n)
        is_dropped_now(oldest(READY, true));
    for (size_t i = 0; i < n; i++) {
        struct slot *s = oldest(READY, true);
        check(got[i]->resource == s->resource && got[i]->frame == s->frame);
        s->state = READING;
        s->it = got[i];
        s->buffer = got[i]->buffer;
        assert_slot(s->it, s->value);
    }
}

/* Picks some of the slots in that state, in any order. */
static size_t pick_some(enum state what, const gr_slot *picked[])
{
    size_t n = 0;
    unsigned start = pick(NAMES);
    for (unsigned i = 0; i < NAMES; i++) {
        struct slot *s = &slots[(start + i) % NAMES];
        if (s->state == what && (n == 0 || pick(2)))
            picked[n++] = s->it;
    }
    return n;
}

/* Makes one entry invalid: a slot in another state, or a duplicate of the first entry. */
static void spoil(const gr_slot *picked[], size_t n, enum state right)
{
    picked[n] = picked[0];
    for (int i = 0; i < NAMES; i++)
        if (slots[i].state != right && slots[i].state >= WRITING && slots[i].it)
            picked[n] = slots[i].it;
}

static void step_write(void)
{
    static int value;
    for (int i = 0; i < NAMES; i++) {
        if (slots[i].state != WRITING || pick(2))
            continue;
        slots[i].value = ++value & 255;
        slot_fill(slots[i].it, value);
    }
}

typedef gr_status hand_over_fn(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* The newest frame that has been given back or is being read. */
static uint64_t given_back;

static void is_unread_now(struct slot *s)
{
    s->state = READY;
}

static void drop_what_is_too_old(void)
{
    uint64_t taken = given_back;
    for (int i = 0; i < NAMES; i++)
        if (slots[i].state == READING && slots[i].frame > taken)
            taken = slots[i].frame;
    if (newest)
        drop_older(taken);
}

static void is_handed_over(struct slot *s, hand_over_fn *call, bool later)
{
    if (call == gr_ring_hand_over) {
        s->state = READY;
        s->frame = ++written;
    } else if (call == gr_ring_cancel_read) {
        is_unread_now(s);
    } else {
        if (call == gr_ring_give_back) {
            read_frames++;
            given_back = s->frame > given_back ? s->frame : given_back;
        }
        is_free_now(s);
        if (later)
            s->state = RETURNING;
    }
}

static void hand_over(enum state from, hand_over_fn *call)
{
    const gr_slot *picked[NAMES + 1];
    size_t n = pick_some(from, picked);
    if (n == 0) {
        check(call(ring, picked, 0) == GR_ERR_INVALID_VALUE);
        return;
    }
    if (pick(8) == 0) {
        spoil(picked, n, from);
        gr_status status = call(ring, picked, n + 1);
        check(status == GR_ERR_INVALID_VALUE || status == GR_ERR_STATE);
        return;
    }
    struct slot *found[NAMES];
    for (size_t i = 0; i < n; i++)
        found[i] = slot_of(picked[i]);
    bool later = call == gr_ring_give_back && is_put_off(picked, n);
    if (call == gr_ring_give_back && !later)
        end_returning();
    check(call(ring, picked, n) == GR_OK);
    for (size_t i = 0; i < n; i++) {
        check(!picked[i]->buffer);
        is_handed_over(found[i], call, later);
    }
    if (call == gr_ring_cancel_read)
        drop_what_is_too_old();
}

static void step_publish(void)
{
    step_write();
    hand_over(WRITING, gr_ring_hand_over);
}

static void step_cancel_write(void)
{
    hand_over(WRITING, gr_ring_cancel_write);
}

static void step_give_back(void)
{
    hand_over(READING, gr_ring_give_back);
}

static void step_cancel_read(void)
{
    hand_over(READING, gr_ring_cancel_read);
}

static void is_slot_now(struct slot *s, gr_resource *resource)
{
    *s = (struct slot){.state = FREE, .turn = ++turn, .resource = resource};
}

static void step_resize(void)
{
    gr_resource *fresh[MOST_NEW];
    struct slot *places[MOST_NEW];
    size_t n = 1 + pick(MOST_NEW), found = 0;
    unsigned used = count(WRITING, true) + count(READY, true) + count(READING, true);
    if (used + n > MOST_SLOTS)
        return;
    for (int i = 0; i < NAMES && found < n; i++)
        if (slots[i].state == NONE)
            places[found++] = &slots[i];
    if (found < n)
        return;
    for (size_t i = 0; i < n; i++)
        fresh[i] = ring_resource(RING_SIZE);
    check(gr_ring_resize(ring, fresh, n) == GR_OK);
    free_resources(fresh, n);
    for (int i = 0; i < NAMES; i++) {
        slots[i].leaving = true;
        if (slots[i].state == FREE || slots[i].state == RETURNING)
            slots[i].state = NONE;
    }
    for (size_t i = 0; i < n; i++)
        is_slot_now(places[i], fresh[i]);
}

static const struct walk_kind kinds[] = {
    {"acquire to write", 10, step_acquire_write},
    {"acquire to read", 10, step_acquire_read},
    {"write", 3, step_write},
    {"publish", 8, step_publish},
    {"cancel a write", 2, step_cancel_write},
    {"give back", 8, step_give_back},
    {"cancel a read", 2, step_cancel_read},
    {"resize", 1, step_resize},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void check_counts(void)
{
    gr_ring_info now = *gr_ring_get_info(ring);
    unsigned all = 0;
    for (enum state s = FREE; s <= RETURNING; s++)
        all += count(s, false);
    check(now.slots == all);
    check(now.free == count(FREE, false) + count(RETURNING, false));
    check(now.writing == count(WRITING, true));
    check(now.ready == count(READY, true));
    check(now.reading == count(READING, true));
    check(now.written == written && now.read == read_frames && now.dropped == dropped);
    check(written == read_frames + dropped + now.ready + now.reading);
}

static void take_step(void)
{
    size_t kind = walk_pick(kinds, KINDS, pick);
    doing = kinds[kind].name;
    kinds[kind].run();
    check_counts();
    check(glGetError() == GL_NO_ERROR);
}

GROUP("walk", add_ring_case)

static void begin(void)
{
    gr_resource *fresh[3];
    memset(slots, 0, sizeof(slots));
    written = read_frames = dropped = turn = given_back = 0;
    for (int i = 0; i < 3; i++) {
        fresh[i] = ring_resource(RING_SIZE);
        is_slot_now(&slots[i], fresh[i]);
    }
    gr_ring_options options = GR_INIT(gr_ring_options, .producer = producer,
                                      .mode = newest ? GR_RING_NEWEST : GR_RING_LOSSLESS);
    ring = must_make(gr_ring_create(fresh, 3, &options));
    free_resources(fresh, 3);
}

/* The buffers of the walk outlive the ring and are freed here. */
static void end(void)
{
    void *handles[NAMES] = {NULL};
    bool interop = false;
    for (int i = 0; i < NAMES; i++) {
        if (slots[i].state == NONE)
            continue;
        handles[i] = driver_handle(slots[i].resource);
        interop = gr_resource_get_info(slots[i].resource)->transport == GR_TRANSPORT_INTEROP;
    }
    gr_ring_free(ring);
    for (int i = 0; i < NAMES; i++) {
        if (handles[i] && interop)
            assert_unregistered(handles[i]);
        bool out = slots[i].state == WRITING || slots[i].state == READING;
        if (out && slots[i].buffer)
            assert_ok(gr_buffer_release(slots[i].buffer));
    }
}

TEST(random_calls_match_the_model, 4 * RING_TRANSPORTS)
{
    need_transport(_i / 4);
    producer = _i & 1 ? GR_SIDE_GRAPHICS : GR_SIDE_CUDA;
    newest = _i & 2;
    begin();
    puts_off = producer == GR_SIDE_CUDA && !newest &&
               gr_resource_get_info(slots[0].resource)->transport == GR_TRANSPORT_SHARED;
    int steps = sanitizer() || _i >= 4 ? 2000 : 10000;
    for (step = 0; step < steps; step++)
        take_step();
    /* The walk must write enough frames: if nearly all calls fail, it tests little. */
    uint64_t many = (uint64_t)steps / 25;
    ck_assert_uint_gt(written, many);
    ck_assert_uint_gt(read_frames, newest ? many / 4 : many);
    ck_assert(newest ? dropped > many / 4 : dropped == 0);
    end();
    gr_clear_error();
}
