/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Ends the use of slots: hand over, give back, cancel. The lock is held as briefly as in an
 * acquire.
 */
#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/ring/link/operations.h"
#include "lib/ring/slot_life.h"
#include "lib/ring/slot_use.h"
#include "lib/sync/sync.h"

/*
 * Returns the number of the slot that the caller passed, or GR_RING_MOST_SLOTS if the pointer is
 * not a slot of this ring. Does not dereference the pointer.
 */
static uint32_t find(const gr_ring *ring, const gr_slot *slot)
{
    const struct gr_ring_slot *slots = ring->state.slots;
    uintptr_t at = (uintptr_t)slot - (uintptr_t)&slots[0].api;
    uintptr_t number = at / sizeof(*slots);
    bool is_slot = at % sizeof(*slots) == 0 && number < GR_RING_MOST_SLOTS &&
                   slots[number].state != GR_SLOT_NONE;
    return is_slot ? (uint32_t)number : GR_RING_MOST_SLOTS;
}

static gr_status check_slot(const gr_ring *ring, const struct gr_ring_side *side, size_t i,
                            uint32_t number)
{
    GR_REFUSE_IF(number == GR_RING_MOST_SLOTS,
                 "Entry %zu of the list is not a slot of this ring: pass the slots that the "
                 "acquire returned.",
                 i);
    const struct gr_ring_slot *slot = &ring->state.slots[number];
    GR_REFUSE_IF(slot->listed, "Slot %u is listed twice: list each slot once.", slot->api.index);
    if (slot->state == (side->writes ? GR_SLOT_WRITING : GR_SLOT_READING))
        return GR_OK;
    return gr_fail(GR_ERR_STATE,
                   "Slot %u is not being %s: hand each slot on once, after its acquire.",
                   slot->api.index, side->writes ? "written" : "read");
}

/* Checks that the submit was committed: a stream would wait forever for a missing submit. */
static gr_status check_submit(const gr_slot *slot, const struct gr_ring_side *side, bool cancels)
{
    if (cancels || !slot->submit || gr_submit_is_committed(slot->submit))
        return GR_OK;
    return gr_fail(GR_ERR_STATE,
                   "The submit of slot %u has not been committed: submit by gr_vk_submit(), which "
                   "commits it, or call gr_submit_commit() after your own submit. Without a "
                   "submit, cancel the slot by %s().",
                   slot->index, side->writes ? "gr_ring_cancel_write" : "gr_ring_cancel_read");
}

/* Checks the caller's slots, and adds them to the side's arrays. The lock is held. */
static gr_status look_up(gr_ring *ring, struct gr_ring_side *side, const gr_slot *const slots[],
                         size_t n, bool cancels)
{
    gr_status status = GR_OK;
    size_t found = 0;
    GR_REFUSE_IF(!slots || n == 0 || n > ring->state.count + ring->state.leaving, "%s.",
                 !slots ? "`slots` is NULL: pass the slots that the acquire returned"
                 : n == 0
                     ? "n is 0: there is nothing to hand over. Pass the number that was acquired"
                     : "n is larger than the number of slots: pass the number that was acquired");
    for (; found < n; found++) {
        uint32_t number = find(ring, slots[found]);
        status = check_slot(ring, side, found, number);
        if (status == GR_OK)
            status = check_submit(&ring->state.slots[number].api, side, cancels);
        if (status != GR_OK)
            break;
        struct gr_ring_slot *slot = &ring->state.slots[number];
        slot->listed = true;
        side->numbers[found] = number;
        side->resources[found] = slot->api.resource;
        side->buffers[found] = slot->api.buffer;
        side->submits[found] = slot->api.submit;
    }
    for (size_t i = 0; i < found; i++)
        ring->state.slots[side->numbers[i]].listed = false;
    return status;
}

/* Records the new states of n slots. The lock is held. */
static void record_states(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool cancels)
{
    if (side->writes && !cancels)
        ring->state.newest_at = gr_clock_ns();
    if (side->writes && cancels)
        gr_ring_state_cancel_write(&ring->state, n, side->numbers);
    else if (side->writes)
        gr_ring_state_hand_over(&ring->state, n, side->numbers);
    else if (cancels)
        gr_ring_state_cancel_read(&ring->state, n, side->numbers);
    else
        gr_ring_state_give_back(&ring->state, n, side->numbers);
    if (!side->writes || !cancels)
        ring->link_ops->push(ring->link, side, n, cancels);
    gr_ring_notify(ring);
}

static gr_status end_use(gr_ring *ring, struct gr_ring_side *side, const gr_slot *const slots[],
                         size_t n, bool cancels)
{
    gr_lock(&ring->lock);
    gr_status status = look_up(ring, side, slots, n, cancels);
    gr_unlock(&ring->lock);
    if (status != GR_OK)
        return status;
    status = gr_ring_end_use(ring, side, n, cancels);
    if (status == GR_ERR_DEVICE_LOST)
        ring->link_ops->after_failure(ring->link);
    gr_lock(&ring->lock);
    for (size_t i = 0; i < n; i++) {
        /* even after an error, because some buffers may have been released */
        gr_slot *slot = &ring->state.slots[side->numbers[i]].api;
        slot->buffer = side->buffers[i];
        slot->submit = side->submits[i];
    }
    if (status == GR_OK)
        record_states(ring, side, n, cancels);
    gr_ring_unlock_and_end_left(ring);
    return status;
}

gr_status gr_ring_hand_over(gr_ring *ring, const gr_slot *const slots[], size_t n)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return end_use(ring, &ring->writer, slots, n, false);
}

gr_status gr_ring_cancel_write(gr_ring *ring, const gr_slot *const slots[], size_t n)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return end_use(ring, &ring->writer, slots, n, true);
}

gr_status gr_ring_give_back(gr_ring *ring, const gr_slot *const slots[], size_t n)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return end_use(ring, &ring->reader, slots, n, false);
}

gr_status gr_ring_cancel_read(gr_ring *ring, const gr_slot *const slots[], size_t n)
{
    GR_CALL();
    GR_TRY(gr_ring_check(ring));
    return end_use(ring, &ring->reader, slots, n, true);
}
