/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests the slot bookkeeping without a real ring. An acquire has two steps, between which its map
 * runs. Between the steps the tests make calls of the other side or resize the ring, and then often
 * let the map fail.
 */
#define _GNU_SOURCE
#include "ring.h"

/* Includes the bookkeeping functions, which are internal to grinterop. */
#include "lib/ring/slot_state.c"

#include <stdlib.h>

static struct gr_ring_state *state;
static uint32_t numbers[GR_RING_MOST_SLOTS], others[GR_RING_MOST_SLOTS];

static void add(size_t n)
{
    static gr_resource *const none[GR_RING_MOST_SLOTS];
    gr_ring_state_add(state, none, n);
}

static void begin(uint32_t slots, bool newest)
{
    state = calloc(1, sizeof(*state));
    ck_assert_ptr_nonnull(state);
    state->newest = newest;
    add(slots);
}

static bool remove_left(uint32_t *number)
{
    *number = gr_slot_set_next(state, &state->in[GR_SLOT_LEFT], 0);
    if (*number == GR_RING_MOST_SLOTS)
        return false;
    gr_ring_state_move(state, *number, GR_SLOT_NONE);
    return true;
}

static void end(void)
{
    free(state);
}

static void publish(size_t n)
{
    ck_assert(gr_ring_state_claim(state, true, n, others));
    gr_ring_state_commit(state, true, n, others);
    gr_ring_state_hand_over(state, n, others);
}

static void assert_state(unsigned free, unsigned writing, unsigned ready, unsigned reading)
{
    gr_ring_info now;
    gr_ring_state_info(state, &now);
    assert_counts(&now, free, writing, ready, reading);
    ck_assert_uint_le(now.dropped, now.written);
}

GROUP("bookkeeping", add_ring_case)

TEST(a_failed_claim_restores_the_frame_it_dropped)
{
    begin(3, true);
    publish(2);
    ck_assert(gr_ring_state_claim(state, true, 3, numbers));
    ck_assert(!gr_ring_state_claim(state, false, 1, others));
    gr_ring_state_undo(state, true, 3, numbers);
    assert_state(1, 0, 2, 0);
    ck_assert_uint_eq(gr_ring_state_dropped(state), 0);
    ck_assert(gr_ring_state_claim(state, false, 2, numbers));
    ck_assert_uint_eq(state->slots[numbers[0]].api.frame, 1);
    ck_assert_uint_eq(state->slots[numbers[1]].api.frame, 2);
    end();
}

/* The consumer reads frame 2 while the producer's attempt to overwrite frame 1 fails. */
TEST(a_frame_restored_after_a_newer_one_was_read_is_dropped)
{
    begin(2, true);
    publish(2);
    ck_assert(gr_ring_state_claim(state, true, 1, numbers));
    ck_assert_uint_eq(state->slots[numbers[0]].api.frame, 1);
    ck_assert(gr_ring_state_claim(state, false, 1, others));
    ck_assert_uint_eq(state->slots[others[0]].api.frame, 2);
    gr_ring_state_commit(state, false, 1, others);
    gr_ring_state_undo(state, true, 1, numbers);
    assert_state(1, 0, 0, 1);
    ck_assert_uint_eq(gr_ring_state_dropped(state), 1);
    end();
}

/* The producer publishes and drops frames while the map of the consumer fails. */
TEST(a_frame_whose_read_failed_is_dropped_for_a_newer_one)
{
    begin(2, true);
    publish(1);
    ck_assert(gr_ring_state_claim(state, false, 1, numbers));
    publish(1);
    publish(1);
    gr_ring_state_undo(state, false, 1, numbers);
    assert_state(0, 0, 2, 0);
    ck_assert(gr_ring_state_claim(state, false, 1, numbers));
    ck_assert_uint_eq(state->slots[numbers[0]].api.frame, 3);
    gr_ring_state_commit(state, false, 1, numbers);
    assert_state(1, 0, 0, 1);
    end();
}

/* A read of frame 4 drops frames 1 to 3, which were handed over in another order than acquired. */
TEST(slots_of_dropped_frames_are_taken_in_frame_order)
{
    begin(4, true);
    ck_assert(gr_ring_state_claim(state, true, 4, numbers));
    gr_ring_state_commit(state, true, 4, numbers);
    for (size_t i = 0; i < 4; i++)
        others[i] = numbers[(6 - i) % 4]; /* slots 2, 1, 0 and 3 */
    gr_ring_state_hand_over(state, 4, others);
    ck_assert(gr_ring_state_claim(state, false, 1, numbers));
    ck_assert_uint_eq(numbers[0], others[3]);
    gr_ring_state_commit(state, false, 1, numbers);
    assert_state(3, 0, 0, 1);
    ck_assert(gr_ring_state_claim(state, true, 3, numbers));
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(numbers[i], others[i]);
    end();
}

TEST(slots_claimed_before_a_resize_are_removed_when_undone)
{
    uint32_t left;
    begin(2, false);
    ck_assert(gr_ring_state_claim(state, true, 1, numbers));
    gr_ring_state_replace(state);
    add(1);
    ck_assert(remove_left(&left));
    ck_assert_uint_eq(left, 1);
    ck_assert(!remove_left(&left));
    gr_ring_state_undo(state, true, 1, numbers);
    assert_state(1, 0, 0, 0);
    ck_assert(remove_left(&left));
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(state->leaving, 0);
    add(1);
    ck_assert_uint_eq(state->slots[0].state, GR_SLOT_FREE); /* its number is in use again */
    end();
}

/* ---- The sets -------------------------------------------------------------------------------- */

enum { WALK_ROOM = 12, WALK_STEPS = 20000 };

/* Checks that the slots of a state are listed in the order in which they are taken. */
static void assert_order(enum gr_slot_state what, bool reverse)
{
    static uint32_t listed[GR_RING_MOST_SLOTS];
    for (uint32_t begin = 0; begin < WALK_ROOM; begin++) {
        size_t n = list_first(state, &state->in[what], begin, reverse, WALK_ROOM, listed);
        ck_assert_uint_eq(n, state->counts[what]);
        for (size_t i = 1; i < n; i++) {
            uint64_t key = key_of(&state->slots[listed[i]]);
            uint64_t before = key_of(&state->slots[listed[i - 1]]);
            ck_assert(reverse ? key < before : key > before);
        }
    }
}

/* Checks that every slot is in the set of its state only, and that the sets are in order. */
static void assert_sets(void)
{
    uint32_t used = 0, staying = 0, leaving = 0;
    for (uint32_t i = 0; i < 2 * WALK_ROOM; i++) {
        enum gr_slot_state its = (enum gr_slot_state)state->slots[i].state;
        for (enum gr_slot_state what = GR_SLOT_FREE; what < GR_SLOT_STATES; what++)
            ck_assert_int_eq(contains(&state->in[what], i), what == its);
        used += its != GR_SLOT_NONE;
        staying += gr_ring_state_stays(state, i);
        leaving += its != GR_SLOT_NONE && its != GR_SLOT_LEFT && !gr_ring_state_stays(state, i);
    }
    ck_assert_uint_eq(staying, state->count);
    ck_assert_uint_eq(leaving, state->leaving);
    ck_assert_uint_eq(used, GR_RING_MOST_SLOTS - gr_ring_state_room(state));
    assert_order(GR_SLOT_FREE, false);
    assert_order(GR_SLOT_READY, state->newest);
}

static uint32_t some(uint32_t most)
{
    static uint32_t seed = 1;
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % most;
}

/* The slots that each side holds between its steps. */
static struct hand {
    uint32_t numbers[WALK_ROOM];
    size_t count;
    bool claimed; /* neither committed nor cancelled yet */
} writing, reading;

typedef void end_fn(struct gr_ring_state *state, size_t n, const uint32_t *numbers);

/* Claims slots, then commits or undoes that, then ends the use by one of two functions. */
static void walk(struct hand *hand, end_fn *usual, end_fn *cancel, uint32_t of)
{
    const bool writes = hand == &writing;
    size_t n = 1 + some(3);
    if (hand->count == 0) {
        hand->claimed = gr_ring_state_claim(state, writes, n, hand->numbers);
        hand->count = hand->claimed ? n : 0;
    } else if (hand->claimed && some(4) == 0) {
        gr_ring_state_undo(state, writes, hand->count, hand->numbers);
        hand->count = 0;
    } else if (hand->claimed) {
        gr_ring_state_commit(state, writes, hand->count, hand->numbers);
        hand->claimed = false;
    } else {
        (some(of) ? usual : cancel)(state, hand->count, hand->numbers);
        hand->count = 0;
    }
}

static void walk_resize(void)
{
    uint32_t left, n = 1 + some(5);
    while (remove_left(&left))
        ck_assert_uint_eq(state->slots[left].state, GR_SLOT_NONE);
    if (state->count + state->leaving + n > WALK_ROOM)
        return;
    gr_ring_state_replace(state);
    add(n);
}

GROUP("sets", add_ring_case)

TEST(the_sets_match_the_states_after_each_random_step, 2)
{
    begin(5, _i == 1);
    writing.count = reading.count = 0;
    for (int step = 0; step < WALK_STEPS; step++) {
        uint32_t what = some(11);
        if (what < 5)
            walk(&writing, gr_ring_state_hand_over, gr_ring_state_cancel_write, 5);
        else if (what < 10)
            walk(&reading, gr_ring_state_give_back, gr_ring_state_cancel_read, 3);
        else if (some(20) == 0)
            walk_resize();
        assert_sets();
    }
    ck_assert_uint_gt(state->read, WALK_STEPS / 50);
    end();
}

GROUP("bookkeeping", add_ring_case)

TEST(renumbered_slots_leave_no_gap)
{
    begin(4, false);
    ck_assert(gr_ring_state_claim(state, true, 2, numbers));
    gr_ring_state_commit(state, true, 2, numbers);
    gr_ring_state_replace(state);
    add(2);
    gr_ring_state_cancel_write(state, 2, numbers);
    for (int i = 0; i < 4; i++)
        ck_assert(remove_left(others));
    gr_ring_state_renumber(state, 4, 0);
    gr_ring_state_renumber(state, 5, 1);
    assert_sets();
    add(1);
    ck_assert(gr_ring_state_claim(state, true, 3, numbers));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(numbers[i], i);
    end();
}

TEST(a_ring_has_at_most_1024_slots)
{
    begin(1000, false);
    ck_assert_uint_eq(gr_ring_state_room(state), 24);
    publish(500);
    gr_ring_state_replace(state);
    while (remove_left(others))
        ;
    ck_assert_uint_eq(gr_ring_state_room(state), 524);
    add(524);
    ck_assert_uint_eq(gr_ring_state_room(state), 0);
    publish(524);
    ck_assert(gr_ring_state_claim(state, false, 1024, numbers));
    for (uint32_t i = 0; i < 1024; i++)
        ck_assert_uint_eq(state->slots[numbers[i]].api.frame, i + 1);
    end();
}
