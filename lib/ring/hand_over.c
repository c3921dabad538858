/* SPDX-License-Identifier: Apache-2.0 */
/* Handing slots of a ring on: published, discarded, given back. The lock as for an acquire. */
#include "lib/error.h"
#include "lib/ring/side_order.h"
#include "lib/ring/peer_link.h"
#include "lib/ring/slot_resources.h"

enum outcome { PUBLISHED, DISCARDED, GIVEN_BACK };

/*
 * The number of the caller's slot, or the array's room. Compared only: it may be a copy of one that
 * has ended.
 */
static uint32_t find(const gr_ring *ring, const gr_slot *slot)
{
    uint32_t room = ring->state->room;
    if (slot->index < room && ring->slots[slot->index].resource == slot->resource)
        return slot->resource ? slot->index : room;
    for (uint32_t i = 0; i < room && slot->resource; i++)
        if (ring->slots[i].resource == slot->resource)
            return i;
    return room;
}

static gr_status check_slot(const gr_ring *ring, const struct gr_ring_side *side,
                            const gr_slot *slot, size_t i, uint32_t number, const char *call)
{
    if (number == ring->state->room)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "Slot %zu of the list is not of this ring.", i);
    const struct gr_ring_place *place = &ring->state->places[number];
    if (place->listed)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "Slot %u is listed twice.",
                       ring->slots[number].index);
    bool right = place->state == (side->writes ? GR_PLACE_WRITING : GR_PLACE_READING);
    if (right && place->frame == slot->frame)
        return GR_OK;
    return gr_fail(GR_ERR_STATE, call, "Slot %u is not one that is being %s%s.",
                   ring->slots[number].index, side->writes ? "written" : "read",
                   right ? " as this frame: the description is of an earlier acquire"
                         : " at the moment");
}

/* Looks the slots up for the side. The lock is held. */
static gr_status look_up(gr_ring *ring, struct gr_ring_side *side, size_t n, const gr_slot slots[],
                         const char *call)
{
    if (!slots || n == 0 || n > ring->state->slots + ring->state->leaving)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "%s.",
                       !slots   ? "`slots` is NULL"
                       : n == 0 ? "n is 0: there is nothing to hand over"
                                : "n is more than there are slots");
    gr_status status = gr_ring_side_reserve(side, ring->state->slots + ring->state->leaving, call);
    size_t found = 0;
    for (; found < n && status == GR_OK; found++) {
        uint32_t number = find(ring, &slots[found]);
        status = check_slot(ring, side, &slots[found], found, number, call);
        if (status != GR_OK)
            break;
        ring->state->places[number].listed = 1;
        side->numbers[found] = number;
        side->resources[found] = ring->slots[number].resource;
        side->buffers[found] = ring->slots[number].buffer;
    }
    for (size_t i = 0; i < found; i++)
        ring->state->places[side->numbers[i]].listed = 0;
    return status;
}

/* Their use has ended, and that of those whose end was put off; or theirs is put off. */
static void note_given_back(gr_ring *ring, bool put_off, size_t n, const uint32_t numbers[])
{
    gr_ring_state_return(ring->state, n, numbers);
    if (!put_off)
        gr_ring_free_returned(ring);
}

/* Writes down what has become of the slots. The lock is held. */
static void note(gr_ring *ring, const struct gr_ring_side *side, enum outcome outcome, bool put_off,
                 size_t n, gr_slot slots[])
{
    if (outcome == PUBLISHED)
        gr_ring_state_publish(ring->state, n, side->numbers);
    else if (outcome == DISCARDED)
        gr_ring_state_discard(ring->state, n, side->numbers);
    else
        note_given_back(ring, put_off, n, side->numbers);
    if (outcome != DISCARDED)
        gr_link_push(ring->link, side, n);
    for (size_t i = 0; i < n; i++) {
        slots[i].frame = outcome == DISCARDED ? 0 : ring->state->places[side->numbers[i]].frame;
        slots[i].submit = (gr_submit){0};
    }
    pthread_cond_broadcast(&ring->changed);
}

/* Also after an error, since some of a long list may have been released. */
static void note_buffers(gr_ring *ring, const struct gr_ring_side *side, size_t n, gr_slot slots[])
{
    for (size_t i = 0; i < n; i++) {
        ring->slots[side->numbers[i]].buffer = side->buffers[i];
        slots[i].buffer = side->buffers[i];
    }
}

static gr_status hand_over(gr_ring *ring, struct gr_ring_side *side, enum outcome outcome, size_t n,
                           gr_slot slots[], const char *call)
{
    pthread_mutex_lock(&ring->lock);
    gr_status status = look_up(ring, side, n, slots, call);
    size_t ending = status == GR_OK && outcome == GIVEN_BACK ? gr_ring_take_returned(ring, n) : n;
    pthread_mutex_unlock(&ring->lock);
    if (status != GR_OK)
        return status;
    status = ending ? gr_ring_end_use(ring, side, ending, outcome == DISCARDED, call)
                    : gr_ring_put_off_end(ring, call);
    pthread_mutex_lock(&ring->lock);
    note_buffers(ring, side, n, slots);
    if (status == GR_OK)
        note(ring, side, outcome, ending == 0, n, slots);
    bool ends = gr_ring_has_left(ring);
    pthread_mutex_unlock(&ring->lock);
    if (ends)
        gr_ring_end_left(ring);
    return status;
}

gr_status gr_ring_publish(gr_ring *ring, size_t n, gr_slot slots[])
{
    gr_status status = gr_ring_check(ring, __func__);
    return status == GR_OK ? hand_over(ring, &ring->writer, PUBLISHED, n, slots, __func__) : status;
}

gr_status gr_ring_cancel_write(gr_ring *ring, size_t n, gr_slot slots[])
{
    gr_status status = gr_ring_check(ring, __func__);
    return status == GR_OK ? hand_over(ring, &ring->writer, DISCARDED, n, slots, __func__) : status;
}

gr_status gr_ring_give_back(gr_ring *ring, size_t n, gr_slot slots[])
{
    gr_status status = gr_ring_check(ring, __func__);
    return status == GR_OK ? hand_over(ring, &ring->reader, GIVEN_BACK, n, slots, __func__)
                           : status;
}
