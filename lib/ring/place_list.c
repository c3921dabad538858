/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lists of slots, linked by numbers instead of pointers, because a state may be copied. Free slots
 * that are leaving have a list of their own, because they are never taken.
 */
#include "lib/ring/place_list.h"

static struct gr_place_list *list_of(struct gr_ring_state *state, const struct gr_ring_place *place)
{
    if (place->state == GR_PLACE_FREE && place->leaving)
        return &state->lists[GR_PLACE_LEFT];
    return &state->lists[place->state];
}

/* Returns the sort key of a slot in an ordered list. The other lists are in order of insertion. */
static uint64_t key_of(const struct gr_ring_place *place)
{
    return place->state == GR_PLACE_READY ? place->frame : place->turn;
}

static bool is_ordered(const struct gr_ring_place *place)
{
    return place->state == GR_PLACE_READY || (place->state == GR_PLACE_FREE && !place->leaving);
}

/* ---- Insertion and removal ------------------------------------------------------------------- */

static void unlink_place(struct gr_ring_state *state, uint32_t number)
{
    struct gr_ring_place *place = &state->places[number];
    struct gr_place_list *list = list_of(state, place);
    list->count--;
    list->leaving -= place->leaving;
    if (list->count == 0)
        return;
    if (list->first == number)
        list->first = place->next;
    else
        state->places[place->previous].next = place->next;
    if (list->last == number)
        list->last = place->previous;
    else
        state->places[place->next].previous = place->previous;
}

static void put_first(struct gr_ring_state *state, struct gr_place_list *list, uint32_t number)
{
    state->places[number].next = list->first;
    state->places[list->first].previous = number;
    list->first = number;
}

static void insert_after(struct gr_ring_state *state, struct gr_place_list *list, uint32_t number,
                         uint32_t before)
{
    struct gr_ring_place *place = &state->places[number];
    place->previous = before;
    if (list->last == before) {
        list->last = number;
    } else {
        place->next = state->places[before].next;
        state->places[place->next].previous = number;
    }
    state->places[before].next = number;
}

/*
 * Inserts a slot into its list. A slot is nearly always inserted last, or first when a claim is
 * undone, so both ends are checked before the list is walked.
 */
static void link_place(struct gr_ring_state *state, uint32_t number)
{
    const struct gr_ring_place *place = &state->places[number];
    struct gr_place_list *list = list_of(state, place);
    if (list->count == 0) {
        list->first = list->last = number;
    } else if (is_ordered(place) && key_of(place) < key_of(&state->places[list->first])) {
        put_first(state, list, number);
    } else {
        uint32_t before = list->last;
        while (is_ordered(place) && key_of(place) < key_of(&state->places[before]))
            before = state->places[before].previous;
        insert_after(state, list, number, before);
    }
    list->count++;
    list->leaving += place->leaving;
}

/* ---- Operations on slots --------------------------------------------------------------------- */

void gr_place_move(struct gr_ring_state *state, uint32_t number, enum gr_place_state into)
{
    struct gr_ring_place *place = &state->places[number];
    if (place->state == into)
        return;
    if (place->state != GR_PLACE_NONE)
        unlink_place(state, number);
    place->state = into;
    if (into != GR_PLACE_NONE)
        link_place(state, number);
}

void gr_place_leave(struct gr_ring_state *state, uint32_t number)
{
    struct gr_ring_place *place = &state->places[number];
    if (place->state == GR_PLACE_FREE) {
        unlink_place(state, number);
        place->leaving = 1;
        link_place(state, number);
    } else {
        place->leaving = 1;
        state->lists[place->state].leaving++;
    }
}

void gr_place_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to)
{
    struct gr_ring_place *place = &state->places[from];
    struct gr_place_list *list = list_of(state, place);
    if (list->first == from)
        list->first = to;
    else
        state->places[place->previous].next = to;
    if (list->last == from)
        list->last = to;
    else
        state->places[place->next].previous = to;
    state->places[to] = *place;
    *place = (struct gr_ring_place){0};
}
