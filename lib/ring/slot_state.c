/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The slots of a ring. Each state has a set of bits, one per slot, so that a search reads 64 slots
 * at once.
 */
#include "lib/ring/slot_state.h"

#include "lib/base/compiler.h"

#include <string.h>

/* ---- Sets ------------------------------------------------------------------------------------ */

static bool contains(const struct gr_slot_set *set, uint32_t number)
{
    return set->words[number / 64] >> number % 64 & 1;
}

static void insert(struct gr_slot_set *set, uint32_t number)
{
    set->words[number / 64] |= UINT64_C(1) << number % 64;
}

static void erase(struct gr_slot_set *set, uint32_t number)
{
    set->words[number / 64] &= ~(UINT64_C(1) << number % 64);
}

uint32_t gr_slot_set_next(const struct gr_ring_state *state, const struct gr_slot_set *set,
                          uint32_t from)
{
    uint64_t skipped = (UINT64_C(1) << from % 64) - 1;
    for (uint32_t i = from / 64; i < state->words; i++, skipped = 0)
        if (set->words[i] & ~skipped)
            return i * 64 + GR_LOWEST_BIT(set->words[i] & ~skipped);
    return GR_RING_MOST_SLOTS;
}

/* The slots of a state that no resize has replaced. */
static struct gr_slot_set staying_in(const struct gr_ring_state *state, enum gr_slot_state what)
{
    struct gr_slot_set set = {{0}};
    for (uint32_t i = 0; i < state->words; i++)
        set.words[i] = state->in[what].words[i] & ~state->replaced.words[i];
    return set;
}

/* The key by which slots of a state are taken, the smallest first. */
static uint64_t key_of(const struct gr_ring_slot *slot)
{
    return slot->state == GR_SLOT_READY ? slot->api.frame : slot->turn;
}

void gr_ring_state_move(struct gr_ring_state *state, uint32_t number, enum gr_slot_state into)
{
    struct gr_ring_slot *slot = &state->slots[number];
    if (into == GR_SLOT_FREE && contains(&state->replaced, number)) {
        state->leaving--;
        into = GR_SLOT_LEFT;
    }
    erase(&state->in[slot->state], number);
    state->counts[slot->state]--;
    slot->state = (uint8_t)into;
    state->counts[into]++;
    if (into == GR_SLOT_NONE) {
        erase(&state->replaced, number);
        return;
    }
    insert(&state->in[into], number);
    if (key_of(slot) < state->lowest[into])
        state->lowest[into] = key_of(slot);
}

void gr_ring_state_free(struct gr_ring_state *state, uint32_t number)
{
    state->slots[number].turn = ++state->last_turn;
    gr_ring_state_move(state, number, GR_SLOT_FREE);
}

/* ---- Adding and removing slots --------------------------------------------------------------- */

void gr_ring_state_add(struct gr_ring_state *state, gr_resource *const resources[], size_t n)
{
    uint32_t number = 0;
    for (size_t i = 0; i < n; i++) {
        while (state->slots[number].state != GR_SLOT_NONE)
            number++;
        state->slots[number] =
            (struct gr_ring_slot){.api = {.resource = resources[i], .index = (unsigned)i}};
        if (number / 64 >= state->words)
            state->words = number / 64 + 1;
        gr_ring_state_free(state, number);
    }
    state->count += (uint32_t)n;
}

bool gr_ring_state_stays(const struct gr_ring_state *state, uint32_t number)
{
    return state->slots[number].state != GR_SLOT_NONE && !contains(&state->replaced, number);
}

uint32_t gr_ring_state_room(const struct gr_ring_state *state)
{
    return GR_RING_MOST_SLOTS - state->count - state->leaving - state->counts[GR_SLOT_LEFT] -
           state->counts[GR_SLOT_ENDING];
}

void gr_ring_state_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to)
{
    gr_ring_state_move(state, from, GR_SLOT_NONE);
    state->slots[to] = state->slots[from];
    state->slots[from] = (struct gr_ring_slot){0};
    gr_ring_state_move(state, to, GR_SLOT_FREE);
}

void gr_ring_state_replace(struct gr_ring_state *state)
{
    for (uint32_t i = 0; i < state->words * 64; i++) {
        struct gr_ring_slot *slot = &state->slots[i];
        if (slot->state == GR_SLOT_NONE || contains(&state->replaced, i))
            continue;
        insert(&state->replaced, i);
        state->leaving++;
        if (slot->state == GR_SLOT_FREE)
            gr_ring_state_move(state, i, GR_SLOT_FREE);
    }
    state->count = 0;
}

/* ---- Counting -------------------------------------------------------------------------------- */

uint64_t gr_ring_state_dropped(const struct gr_ring_state *state)
{
    return state->written - state->read - state->counts[GR_SLOT_READY] -
           state->counts[GR_SLOT_READING];
}

void gr_ring_state_info(const struct gr_ring_state *state, gr_ring_info *info)
{
    *info = (gr_ring_info){
        .written = state->written,
        .read = state->read,
        .dropped = gr_ring_state_dropped(state),
        .slots = state->count,
        .free = state->counts[GR_SLOT_FREE],
        .writing = state->counts[GR_SLOT_WRITING],
        .ready = state->counts[GR_SLOT_READY],
        .reading = state->counts[GR_SLOT_READING],
    };
}

uint32_t gr_ring_state_claimable(const struct gr_ring_state *state, bool writes)
{
    if (!writes)
        return state->counts[GR_SLOT_READY];
    uint32_t count = state->counts[GR_SLOT_FREE];
    const struct gr_slot_set droppable = staying_in(state, GR_SLOT_READY);
    for (uint32_t i = 0; state->newest && i < state->words; i++)
        count += GR_COUNT_BITS(droppable.words[i]);
    return count;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/*
 * Inserts a slot into an ordered list of the n first slots. A slot nearly always comes last, so the
 * list is searched from its end.
 */
static size_t list_slot(const struct gr_ring_state *state, uint32_t number, bool reverse, size_t n,
                        size_t found, uint32_t numbers[])
{
    const uint64_t flip = reverse ? UINT64_MAX : 0, key = key_of(&state->slots[number]) ^ flip;
    size_t at = found;
    while (at > 0 && key < (key_of(&state->slots[numbers[at - 1]]) ^ flip))
        at--;
    if (at == n)
        return found;
    found += found < n;
    memmove(numbers + at + 1, numbers + at, (found - at - 1) * sizeof(*numbers));
    numbers[at] = number;
    return found;
}

/* Lists slots while each next one has the lowest key that a slot of the state can have. */
static size_t list_in_order(const struct gr_ring_state *state, const struct gr_slot_set *set,
                            uint32_t begin, size_t n, uint32_t numbers[])
{
    size_t found = 0;
    uint64_t key = 0;
    for (uint32_t i = begin; found < n; i = numbers[found++] + 1, key++) {
        numbers[found] = gr_slot_set_next(state, set, i);
        if (numbers[found] == GR_RING_MOST_SLOTS)
            numbers[found] = gr_slot_set_next(state, set, 0);
        if (numbers[found] == GR_RING_MOST_SLOTS)
            break;
        const struct gr_ring_slot *slot = &state->slots[numbers[found]];
        if (found == 0)
            key = state->lowest[slot->state];
        if (key_of(slot) != key)
            break;
    }
    return found;
}

/*
 * Lists the n slots of a set that are taken first, in this order, or the n last in reverse. Returns
 * how many there are. Slots are nearly always in order from `begin` on; otherwise all are compared.
 */
static size_t list_first(const struct gr_ring_state *state, const struct gr_slot_set *set,
                         uint32_t begin, bool reverse, size_t n, uint32_t numbers[])
{
    if (!reverse && list_in_order(state, set, begin, n, numbers) == n)
        return n;
    size_t found = 0;
    uint32_t i = begin;
    while ((i = gr_slot_set_next(state, set, i)) < GR_RING_MOST_SLOTS)
        found = list_slot(state, i++, reverse, n, found, numbers);
    i = 0;
    while ((i = gr_slot_set_next(state, set, i)) < begin)
        found = list_slot(state, i++, reverse, n, found, numbers);
    return found;
}

/* Lists the next slots to write to, which may hold the oldest unread frames. */
static size_t list_writable(const struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    const uint32_t begin = state->next[true];
    size_t found = list_first(state, &state->in[GR_SLOT_FREE], begin, false, n, numbers);
    if (found == n || !state->newest)
        return found;
    const struct gr_slot_set droppable = staying_in(state, GR_SLOT_READY);
    return found + list_first(state, &droppable, begin, false, n - found, numbers + found);
}

static size_t list_readable(const struct gr_ring_state *state, size_t n, uint32_t numbers[])
{
    const struct gr_slot_set *ready = &state->in[GR_SLOT_READY];
    size_t found = list_first(state, ready, state->next[false], state->newest, n, numbers);
    for (size_t i = 0; state->newest && i < found / 2; i++) {
        uint32_t number = numbers[i];
        numbers[i] = numbers[found - 1 - i];
        numbers[found - 1 - i] = number;
    }
    return found;
}

bool gr_ring_state_claim(struct gr_ring_state *state, bool writes, size_t n, uint32_t numbers[])
{
    size_t found = (writes ? list_writable : list_readable)(state, n, numbers);
    if (found < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_slot *slot = &state->slots[numbers[i]];
        slot->before = slot->state;
        if (writes || !state->newest)
            state->lowest[slot->state] = key_of(slot) + 1;
        gr_ring_state_move(state, numbers[i], writes ? GR_SLOT_WRITING : GR_SLOT_READING);
    }
    state->next[writes] = (numbers[n - 1] + 1) % GR_RING_MOST_SLOTS;
    return true;
}

/* Drops the oldest frame first, since slots that became free first are taken first. */
static void drop_older(struct gr_ring_state *state, uint64_t frame)
{
    uint32_t numbers[GR_RING_MOST_SLOTS];
    const struct gr_slot_set *ready = &state->in[GR_SLOT_READY];
    size_t n =
        list_first(state, ready, state->next[false], false, state->counts[GR_SLOT_READY], numbers);
    for (size_t i = 0; i < n && state->slots[numbers[i]].api.frame < frame; i++)
        gr_ring_state_free(state, numbers[i]);
}

void gr_ring_state_commit(struct gr_ring_state *state, bool writes, size_t n,
                          const uint32_t numbers[])
{
    if (!writes) {
        state->last_read = state->slots[numbers[n - 1]].api.frame;
        if (state->newest)
            drop_older(state, state->last_read);
        return;
    }
    const uint64_t next = state->written + state->counts[GR_SLOT_WRITING] - n + 1;
    uint64_t newest_dropped = 0;
    for (size_t i = 0; i < n; i++) {
        struct gr_ring_slot *slot = &state->slots[numbers[i]];
        if (slot->before == GR_SLOT_READY && slot->api.frame > newest_dropped)
            newest_dropped = slot->api.frame;
        slot->api.frame = next + i;
    }
    if (newest_dropped) /* also the older frames in slots that a resize has replaced */
        drop_older(state, newest_dropped);
}

/*
 * If the consumer has read a newer frame since the claim of the producer, an older frame is dropped
 * now.
 */
void gr_ring_state_undo(struct gr_ring_state *state, bool writes, size_t n,
                        const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        const struct gr_ring_slot *slot = &state->slots[numbers[i]];
        gr_ring_state_move(state, numbers[i], (enum gr_slot_state)slot->before);
        if (writes && slot->state == GR_SLOT_READY && slot->api.frame < state->last_read)
            gr_ring_state_free(state, numbers[i]);
    }
}

/* ---- The end of a use ------------------------------------------------------------------------ */

void gr_ring_state_hand_over(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        state->slots[numbers[i]].api.frame = ++state->written;
        gr_ring_state_move(state, numbers[i], GR_SLOT_READY);
    }
}

void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++) {
        state->slots[numbers[i]].api.frame = 0;
        gr_ring_state_free(state, numbers[i]);
    }
}

void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    state->read += n;
    for (size_t i = 0; i < n; i++) {
        uint64_t frame = state->slots[numbers[i]].api.frame;
        if (frame > state->last_given_back)
            state->last_given_back = frame;
        gr_ring_state_free(state, numbers[i]);
    }
}

void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[])
{
    for (size_t i = 0; i < n; i++)
        gr_ring_state_move(state, numbers[i], GR_SLOT_READY);
    state->last_read = state->last_given_back;
    GR_FOR_SLOTS_IN(i, state, GR_SLOT_READING)
    if (state->slots[i].api.frame > state->last_read)
        state->last_read = state->slots[i].api.frame;
    if (state->newest)
        drop_older(state, state->last_read);
}
