/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bookkeeping of a ring's slots. The next slot is looked for: there are few, and no list can go
 * wrong.
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

static void make_free(struct gr_ring_state *state, struct gr_ring_place *place)
{
    place->state = GR_PLACE_FREE;
    place->turn = ++state->last_turn;
}

static void drop(struct gr_ring_state *state, struct gr_ring_place *place)
{
    state->dropped++;
    make_free(state, place);
}

/* ---- Slots that come and go ------------------------------------------------------------------ */

uint32_t gr_ring_state_add(struct gr_ring_state *state)
{
    uint32_t number = 0;
    while (state->places[number].state != GR_PLACE_NONE)
        number++;
    state->places[number] = (struct gr_ring_place){0};
    make_free(state, &state->places[number]);
    state->slots++;
    return number;
}

void gr_ring_state_leave(struct gr_ring_state *state)
{
    gr_ring_state_end_returning(state); /* nobody uses them any more, so nobody has to be told */
    for (uint32_t i = 0; i < state->room; i++)
        state->places[i].leaving = 1;
    state->leaving += state->slots;
    state->slots = 0;
}

bool gr_ring_state_take_left(struct gr_ring_state *state, uint32_t *number)
{
    for (uint32_t i = 0; i < state->room; i++) {
        struct gr_ring_place *place = &state->places[i];
        if (place->state != GR_PLACE_FREE || !place->leaving)
            continue;
        place->state = GR_PLACE_NONE;
        state->leaving--;
        *number = i;
        return true;
    }
    return false;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint32_t count(const struct gr_ring_state *state, uint32_t what)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < state->room; i++)
        found += state->places[i].state == what;
    return found;
}

/* Those that can be written to. */
static uint32_t count_staying(const struct gr_ring_state *state, uint32_t what)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < state->room; i++)
        found += state->places[i].state == what && !state->places[i].leaving;
    return found;
}

void gr_ring_state_count(const struct gr_ring_state *state, gr_ring_info *counts)
{
    *counts = (gr_ring_info){
        .published = state->published,
        .read = state->read,
        .dropped = state->dropped,
        .slots = state->slots,
        .free = count_staying(state, GR_PLACE_FREE) + gr_ring_state_returning(state),
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

/* The slot of that state that has been in it for longest; the array's room if there is none. */
static uint32_t find_oldest(const struct gr_ring_state *state, uint32_t what, bool leaving_too)
{
    uint32_t oldest = state->room;
    for (uint32_t i = 0; i < state->room; i++) {
        const struct gr_ring_place *place = &state->places[i], *best = &state->places[oldest];
        if (place->state != what || (place->leaving && !leaving_too))
            continue;
        if (oldest == state->room ||
            (what == GR_PLACE_READY ? place->frame < best->frame : place->turn < best->turn))
            oldest = i;
    }
    return oldest;
}

/* Claims a slot that there is. */
static uint32_t claim(struct gr_ring_state *state, uint32_t number, uint32_t into)
{
    state->places[number].before = state->places[number].state;
    state->places[number].state = into;
    return number;
}

bool gr_ring_claim_write(struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    size_t free = count_staying(state, GR_PLACE_FREE);
    size_t dropable = state->newest ? count_staying(state, GR_PLACE_READY) : 0;
    if (free + dropable < n)
        return false;
    for (size_t i = 0; i < n; i++)
        numbers[i] =
            claim(state, find_oldest(state, i < free ? GR_PLACE_FREE : GR_PLACE_READY, false),
                  GR_PLACE_WRITING);
    return true;
}

static void drop_older(struct gr_ring_state *state, uint64_t frame)
{
    uint32_t i;
    while ((i = find_oldest(state, GR_PLACE_READY, true)) < state->room &&
           state->places[i].frame < frame)
        drop(state, &state->places[i]);
}

void gr_ring_commit_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    uint64_t next = state->published + count(state, GR_PLACE_WRITING) - n + 1;
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
    drop_older(state, newest_dropped); /* in slots that leave, and are of no use */
}

/* The consumer may have read a newer frame meanwhile, and would have dropped this one. */
void gr_ring_undo_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_place *place = &state->places[numbers[i]];
        place->state = place->before;
        if (place->state == GR_PLACE_READY && place->frame < state->last_read)
            drop(state, place);
    }
}

void gr_ring_state_publish(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        state->places[numbers[i]].frame = ++state->published;
        state->places[numbers[i]].state = GR_PLACE_READY;
    }
}

void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        make_free(state, &state->places[numbers[i]]);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* There is one. */
static uint32_t find_newest(const struct gr_ring_state *state)
{
    uint32_t newest = state->room;
    for (uint32_t i = 0; i < state->room; i++)
        if (state->places[i].state == GR_PLACE_READY &&
            (newest == state->room || state->places[i].frame > state->places[newest].frame))
            newest = i;
    return newest;
}

bool gr_ring_claim_read(struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    if (count(state, GR_PLACE_READY) < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t next =
            state->newest ? find_newest(state) : find_oldest(state, GR_PLACE_READY, true);
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
        state->places[numbers[i]].state = GR_PLACE_READY;
}

void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    state->read += n;
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_place *place = &state->places[numbers[i]];
        if (place->frame > state->last_given_back)
            state->last_given_back = place->frame;
        make_free(state, place);
    }
}

static uint64_t newest_taken(const struct gr_ring_state *state)
{
    uint64_t newest = state->last_given_back;
    for (uint32_t i = 0; i < state->room; i++)
        if (state->places[i].state == GR_PLACE_READING && state->places[i].frame > newest)
            newest = state->places[i].frame;
    return newest;
}

void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        state->places[numbers[i]].state = GR_PLACE_READY;
    state->last_read = newest_taken(state);
    if (state->newest)
        drop_older(state, state->last_read);
}

/* ---- Returned first, free later -------------------------------------------------------------- */

bool gr_ring_state_puts_off(const struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        if (state->places[numbers[i]].leaving)
            return false;
    return gr_ring_state_returning(state) + n < state->slots / 2;
}

/*
 * They have their turn already, so that they are written in the order in which they were returned.
 */
void gr_ring_state_return(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    gr_ring_state_give_back(state, n, numbers);
    for (size_t i = 0; i < n; i++)
        if (!state->places[numbers[i]].leaving) /* a resize may have come between the two steps */
            state->places[numbers[i]].state = GR_PLACE_RETURNING;
}

uint32_t gr_ring_state_returning(const struct gr_ring_state *state)
{
    return count(state, GR_PLACE_RETURNING);
}

size_t gr_ring_state_list_returning(const struct gr_ring_state *state, uint32_t numbers[])
{
    size_t n = 0;
    for (uint32_t i = 0; i < state->room; i++)
        if (state->places[i].state == GR_PLACE_RETURNING)
            numbers[n++] = i;
    return n;
}

void gr_ring_state_end_returning(struct gr_ring_state *state)
{
    for (uint32_t i = 0; i < state->room; i++)
        if (state->places[i].state == GR_PLACE_RETURNING)
            state->places[i].state = GR_PLACE_FREE;
}
