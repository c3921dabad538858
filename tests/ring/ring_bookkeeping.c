/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests the slot bookkeeping without a real ring. An acquire has two steps, between which its map
 * runs. Between the steps the tests make calls of the other side or resize the ring, and then often
 * let the map fail.
 */
#define _GNU_SOURCE
#include "ring.h"

/* Includes the bookkeeping functions, which are internal to grinterop. */
#include "lib/ring/place_list.c"
#include "lib/ring/slot_state.c"

#include <stdlib.h>

static struct gr_ring_state *state;
static uint32_t numbers[8], others[8];

static void begin(uint32_t slots, uint32_t room, bool newest)
{
    state = calloc(1, gr_ring_state_size(room));
    ck_assert_ptr_nonnull(state);
    gr_ring_state_init(state, room, newest);
    for (uint32_t i = 0; i < slots; i++)
        ck_assert_uint_eq(gr_ring_state_add(state), i);
}

static void end(void)
{
    free(state);
}

static void publish(size_t n)
{
    ck_assert(gr_ring_claim_write(state, n, others));
    gr_ring_commit_write(state, n, others);
    gr_ring_state_hand_over(state, n, others);
}

static void assert_state(unsigned free, unsigned writing, unsigned ready, unsigned reading)
{
    gr_ring_info now;
    gr_ring_state_count(state, &now);
    assert_counts(&now, free, writing, ready, reading);
    ck_assert_uint_eq(now.written, now.read + now.dropped + ready + reading);
}

GROUP("bookkeeping", add_ring_case)

TEST(a_failed_claim_restores_the_frame_it_dropped)
{
    begin(3, 3, true);
    publish(2);
    ck_assert(gr_ring_claim_write(state, 3, numbers));
    ck_assert(!gr_ring_claim_read(state, 1, others));
    gr_ring_undo_write(state, 3, numbers);
    assert_state(1, 0, 2, 0);
    ck_assert_uint_eq(state->dropped, 0);
    ck_assert(gr_ring_claim_read(state, 2, numbers));
    ck_assert_uint_eq(state->places[numbers[0]].frame, 1);
    ck_assert_uint_eq(state->places[numbers[1]].frame, 2);
    end();
}

/* The consumer reads frame 2 while the producer's attempt to overwrite frame 1 fails. */
TEST(a_frame_restored_after_a_newer_one_was_read_is_dropped)
{
    begin(2, 2, true);
    publish(2);
    ck_assert(gr_ring_claim_write(state, 1, numbers));
    ck_assert_uint_eq(state->places[numbers[0]].frame, 1);
    ck_assert(gr_ring_claim_read(state, 1, others));
    ck_assert_uint_eq(state->places[others[0]].frame, 2);
    gr_ring_commit_read(state, 1, others);
    gr_ring_undo_write(state, 1, numbers);
    assert_state(1, 0, 0, 1);
    ck_assert_uint_eq(state->dropped, 1);
    end();
}

/* The producer publishes and drops frames while the map of the consumer fails. */
TEST(a_frame_whose_read_failed_is_dropped_for_a_newer_one)
{
    begin(2, 2, true);
    publish(1);
    ck_assert(gr_ring_claim_read(state, 1, numbers));
    publish(1);
    publish(1);
    gr_ring_undo_read(state, 1, numbers);
    assert_state(0, 0, 2, 0);
    ck_assert(gr_ring_claim_read(state, 1, numbers));
    ck_assert_uint_eq(state->places[numbers[0]].frame, 3);
    gr_ring_commit_read(state, 1, numbers);
    assert_state(1, 0, 0, 1);
    end();
}

TEST(slots_claimed_before_a_resize_are_removed_when_undone)
{
    uint32_t left;
    begin(2, 4, false);
    ck_assert(gr_ring_claim_write(state, 1, numbers));
    gr_ring_state_leave(state);
    ck_assert_uint_eq(gr_ring_state_add(state), 2);
    ck_assert(gr_ring_state_remove_left(state, &left));
    ck_assert_uint_eq(left, 1);
    ck_assert(!gr_ring_state_remove_left(state, &left));
    gr_ring_undo_write(state, 1, numbers);
    assert_state(1, 0, 0, 0);
    ck_assert(gr_ring_state_remove_left(state, &left));
    ck_assert_uint_eq(left, 0);
    ck_assert_uint_eq(state->leaving, 0);
    ck_assert_uint_eq(gr_ring_state_add(state), 0); /* its number is in use again */
    end();
}

/* ---- The lists ------------------------------------------------------------------------------- */

enum { WALK_ROOM = 12, WALK_STEPS = 20000 };

/*
 * Checks that every slot is in the list of its state only, and that the ordered lists are in order.
 */
static void assert_lists(void)
{
    uint32_t in_state[GR_PLACE_LISTS] = {0}, leaving[GR_PLACE_LISTS] = {0};
    for (uint32_t i = 0; i < state->room; i++) {
        const struct gr_ring_place *place = &state->places[i];
        bool left = place->state == GR_PLACE_FREE && place->leaving;
        in_state[left ? GR_PLACE_LEFT : place->state]++;
        leaving[left ? GR_PLACE_LEFT : place->state] += place->leaving;
    }
    for (uint32_t list = GR_PLACE_FREE; list < GR_PLACE_LISTS; list++) {
        const struct gr_place_list *l = &state->lists[list];
        ck_assert_uint_eq(l->count, in_state[list]);
        ck_assert_uint_eq(l->leaving, leaving[list]);
        uint64_t before = 0;
        for (uint32_t i = 0, at = l->first; i < l->count; i++) {
            const struct gr_ring_place *place = &state->places[at];
            ck_assert_uint_eq(place->state, list == GR_PLACE_LEFT ? GR_PLACE_FREE : list);
            uint64_t key = list == GR_PLACE_READY  ? place->frame
                           : list == GR_PLACE_FREE ? place->turn
                                                   : before + 1;
            ck_assert_uint_gt(key, before);
            before = key;
            if (i + 1 < l->count)
                ck_assert_uint_eq(state->places[place->next].previous, at);
            else
                ck_assert_uint_eq(l->last, at);
            at = place->next;
        }
    }
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

static void walk_write(void)
{
    struct hand *hand = &writing;
    size_t n = 1 + some(3);
    if (hand->count == 0) {
        hand->claimed = gr_ring_claim_write(state, n, hand->numbers);
        hand->count = hand->claimed ? n : 0;
    } else if (hand->claimed && some(4) == 0) {
        gr_ring_undo_write(state, hand->count, hand->numbers);
        hand->count = 0;
    } else if (hand->claimed) {
        gr_ring_commit_write(state, hand->count, hand->numbers);
        hand->claimed = false;
    } else {
        (some(5) ? gr_ring_state_hand_over : gr_ring_state_cancel_write)(state, hand->count,
                                                                         hand->numbers);
        hand->count = 0;
    }
}

static void walk_read(void)
{
    struct hand *hand = &reading;
    size_t n = 1 + some(3);
    if (hand->count == 0) {
        hand->claimed = gr_ring_claim_read(state, n, hand->numbers);
        hand->count = hand->claimed ? n : 0;
    } else if (hand->claimed && some(4) == 0) {
        gr_ring_undo_read(state, hand->count, hand->numbers);
        hand->count = 0;
    } else if (hand->claimed) {
        gr_ring_commit_read(state, hand->count, hand->numbers);
        hand->claimed = false;
    } else {
        (some(3) ? gr_ring_state_give_back : gr_ring_state_cancel_read)(state, hand->count,
                                                                        hand->numbers);
        hand->count = 0;
    }
}

static void walk_resize(void)
{
    uint32_t left, n = 1 + some(5);
    while (gr_ring_state_remove_left(state, &left))
        ck_assert_uint_eq(state->places[left].state, GR_PLACE_NONE);
    if (state->slots + state->leaving + n > WALK_ROOM)
        return;
    gr_ring_state_leave(state);
    for (uint32_t i = 0; i < n; i++)
        gr_ring_state_add(state);
}

GROUP("lists", add_ring_case)

TEST(the_lists_match_the_states_after_each_random_step, 2)
{
    begin(5, WALK_ROOM, _i == 1);
    writing.count = reading.count = 0;
    for (int step = 0; step < WALK_STEPS; step++) {
        uint32_t what = some(11);
        if (what < 5)
            walk_write();
        else if (what < 10)
            walk_read();
        else if (some(20) == 0)
            walk_resize();
        assert_lists();
    }
    ck_assert_uint_gt(state->read, WALK_STEPS / 50);
    end();
}

GROUP("bookkeeping", add_ring_case)

TEST(renumbered_slots_leave_no_gap)
{
    begin(4, 6, false);
    ck_assert(gr_ring_claim_write(state, 2, numbers));
    gr_ring_commit_write(state, 2, numbers);
    gr_ring_state_leave(state);
    ck_assert_uint_eq(gr_ring_state_add(state), 4);
    ck_assert_uint_eq(gr_ring_state_add(state), 5);
    gr_ring_state_cancel_write(state, 2, numbers);
    for (int i = 0; i < 4; i++)
        ck_assert(gr_ring_state_remove_left(state, others));
    gr_ring_state_renumber(state, 4, 0);
    gr_ring_state_renumber(state, 5, 1);
    assert_lists();
    ck_assert_uint_eq(gr_ring_state_add(state), 2);
    ck_assert(gr_ring_claim_write(state, 3, numbers));
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(numbers[i], i);
    end();
}
