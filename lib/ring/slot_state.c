/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The states of a ring's slots. The slots of each state are in a list, so that the cost per frame
 * does not depend on the number of slots.
 */
#include "lib/ring/slot_state.h"

size_t gr_ring_state_size(uint32_t room)
{
    return sizeof(struct gr_ring_state) + room * sizeof(struct gr_ring_place);
}

void gr_ring_state_init(struct gr_ring_state *state, uint32_t room, bool newest)
{
    state->newest = newest;
    state->room = room;
}

static void make_free(struct gr_ring_state *state, uint32_t number)
{
    state->places[number].turn = ++state->last_turn;
    gr_place_move(state, number, GR_PLACE_FREE);
}

static void drop(struct gr_ring_state *state, uint32_t number)
{
    state->dropped++;
    make_free(state, number);
}

/* ---- Adding and removing slots --------------------------------------------------------------- */

uint32_t gr_ring_state_add(struct gr_ring_state *state)
{
    uint32_t number = state->maybe_none;
    while (state->places[number].state != GR_PLACE_NONE)
        number++;
    state->maybe_none = number + 1;
    state->places[number] = (struct gr_ring_place){0};
    make_free(state, number);
    state->slots++;
    return number;
}

static void note_none(struct gr_ring_state *state, uint32_t number)
{
    if (number < state->maybe_none)
        state->maybe_none = number;
}

void gr_ring_state_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to)
{
    gr_place_renumber(state, from, to);
    note_none(state, from);
}

void gr_ring_state_leave(struct gr_ring_state *state)
{
    for (uint32_t i = 0; i < state->room; i++)
        if (state->places[i].state != GR_PLACE_NONE && !state->places[i].leaving)
            gr_place_leave(state, i);
    state->leaving += state->slots;
    state->slots = 0;
}

bool gr_ring_state_remove_left(struct gr_ring_state *state, uint32_t *number)
{
    const struct gr_place_list *left = &state->lists[GR_PLACE_LEFT];
    if (left->count == 0)
        return false;
    *number = left->first;
    gr_place_move(state, *number, GR_PLACE_NONE);
    note_none(state, *number);
    state->leaving--;
    return true;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/*
 * Counts slots in a state. Includes slots that are leaving, except free ones, which have already
 * left.
 */
static uint32_t count(const struct gr_ring_state *state, enum gr_place_state what)
{
    return state->lists[what].count;
}

/* Counts the slots in a state, without those that are leaving. */
static uint32_t count_staying(const struct gr_ring_state *state, enum gr_place_state what)
{
    return state->lists[what].count - state->lists[what].leaving;
}

void gr_ring_state_count(const struct gr_ring_state *state, gr_ring_info *counts)
{
    *counts = (gr_ring_info){
        .written = state->written,
        .read = state->read,
        .dropped = state->dropped,
        .slots = state->slots,
        .free = count_staying(state, GR_PLACE_FREE),
        .writing = count(state, GR_PLACE_WRITING),
        .ready = count(state, GR_PLACE_READY),
        .reading = count(state, GR_PLACE_READING),
    };
}

bool gr_ring_state_can_write(const struct gr_ring_state *state)
{
    return count_staying(state, GR_PLACE_FREE) > 0 ||
           (state->newest && count_staying(state, GR_PLACE_READY) > 0);
}

bool gr_ring_state_can_read(const struct gr_ring_state *state)
{
    return count(state, GR_PLACE_READY) > 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/*
 * Returns the next slot to write to, which may hold the oldest unread frame. There must be such a
 * slot.
 */
static uint32_t next_to_write(const struct gr_ring_state *state)
{
    if (count(state, GR_PLACE_FREE) > 0)
        return state->lists[GR_PLACE_FREE].first;
    uint32_t number = state->lists[GR_PLACE_READY].first;
    while (state->places[number].leaving)
        number = state->places[number].next;
    return number;
}

static uint32_t claim(struct gr_ring_state *state, uint32_t number, enum gr_place_state into)
{
    state->places[number].before = state->places[number].state;
    gr_place_move(state, number, into);
    return number;
}

bool gr_ring_claim_write(struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    size_t free = count_staying(state, GR_PLACE_FREE);
    size_t droppable = state->newest ? count_staying(state, GR_PLACE_READY) : 0;
    if (free + droppable < n)
        return false;
    for (size_t i = 0; i < n; i++)
        numbers[i] = claim(state, next_to_write(state), GR_PLACE_WRITING);
    return true;
}

static void drop_older(struct gr_ring_state *state, uint64_t frame)
{
    const struct gr_place_list *ready = &state->lists[GR_PLACE_READY];
    while (ready->count > 0 && state->places[ready->first].frame < frame)
        drop(state, ready->first);
}

void gr_ring_commit_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    uint64_t next = state->written + count(state, GR_PLACE_WRITING) - n + 1;
    uint64_t newest_dropped = 0;
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_place *place = &state->places[numbers[i]];
        if (place->before == GR_PLACE_READY) {
            state->dropped++;
            if (place->frame > newest_dropped)
                newest_dropped = place->frame;
        }
        place->frame = next + i;
    }
    /* drop the older frames, which are in slots that are leaving */
    drop_older(state, newest_dropped);
}

/*
 * Undoes a claim. If the consumer has read a newer frame meanwhile, an older frame is dropped now.
 */
void gr_ring_undo_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        const struct gr_ring_place *place = &state->places[numbers[i]];
        gr_place_move(state, numbers[i], (enum gr_place_state)place->before);
        if (place->state == GR_PLACE_READY && place->frame < state->last_read)
            drop(state, numbers[i]);
    }
}

void gr_ring_state_hand_over(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        state->places[numbers[i]].frame = ++state->written;
        gr_place_move(state, numbers[i], GR_PLACE_READY);
    }
}

void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        make_free(state, numbers[i]);
}

/* ---- Reading --------------------------------------------------------------------------------- */

bool gr_ring_claim_read(struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    const struct gr_place_list *ready = &state->lists[GR_PLACE_READY];
    if (ready->count < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t next = state->newest ? ready->last : ready->first;
        numbers[state->newest ? n - 1 - i : i] = claim(state, next, GR_PLACE_READING);
    }
    return true;
}

void gr_ring_commit_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    state->last_read = state->places[numbers[n - 1]].frame;
    if (state->newest)
        drop_older(state, state->last_read);
}

void gr_ring_undo_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        gr_place_move(state, numbers[i], GR_PLACE_READY);
}

void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    state->read += n;
    for (size_t i = 0; i < n; i++) {
        uint64_t frame = state->places[numbers[i]].frame;
        if (frame > state->last_given_back)
            state->last_given_back = frame;
        make_free(state, numbers[i]);
    }
}

static uint64_t newest_taken(const struct gr_ring_state *state)
{
    const struct gr_place_list *reading = &state->lists[GR_PLACE_READING];
    uint64_t newest = state->last_given_back;
    for (uint32_t i = 0, number = reading->first; i < reading->count; i++) {
        if (state->places[number].frame > newest)
            newest = state->places[number].frame;
        number = state->places[number].next;
    }
    return newest;
}

void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        gr_place_move(state, numbers[i], GR_PLACE_READY);
    state->last_read = newest_taken(state);
    if (state->newest)
        drop_older(state, state->last_read);
}
