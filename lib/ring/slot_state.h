/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The states of a ring's slots, and the choice of the next one. The state consists of integers
 * without pointers, so that the same numbers can be in a page that two processes share. These
 * functions do not map, wait or lock; the caller serializes their calls.
 *
 * An acquire has two steps, because the work between them may fail: a claim takes the slots; then a
 * commit makes the claim final, or an undo restores the state. Only the commit drops frames.
 */
#ifndef GR_LIB_RING_SLOT_STATE_H
#define GR_LIB_RING_SLOT_STATE_H

#include <stdbool.h>

#include <grinterop/ring.h>

#include "lib/ring/place_list.h"

/*
 * gr_ring_state_size() returns the size of a state in bytes; gr_ring_state_init() initialises
 * zeroed memory of that size.
 */
size_t gr_ring_state_size(uint32_t room);
void gr_ring_state_init(struct gr_ring_state *state, uint32_t room, bool newest);

/* Adds a free slot and returns its number. There must be room. */
uint32_t gr_ring_state_add(struct gr_ring_state *state);

/* Moves the slot to an unused number. The old number must no longer be in use anywhere. */
void gr_ring_state_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

/* Marks all slots as leaving: their current use goes on, but they are not written again. */
void gr_ring_state_leave(struct gr_ring_state *state);

/* Removes a free slot that is leaving. *number is then unused. False: there is no such slot. */
bool gr_ring_state_remove_left(struct gr_ring_state *state, uint32_t *number);

/* Whether a claim of one slot would succeed. */
bool gr_ring_state_can_write(const struct gr_ring_state *state);
bool gr_ring_state_can_read(const struct gr_ring_state *state);

/* Claims n slots to write to, oldest first. False: fewer are available, and nothing has changed. */
bool gr_ring_claim_write(struct gr_ring_state *state, size_t n, uint32_t numbers[]);
void gr_ring_commit_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_undo_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/* Like gr_ring_claim_write(), for n frames to read, in the order of frames. */
bool gr_ring_claim_read(struct gr_ring_state *state, size_t n, uint32_t numbers[]);
void gr_ring_commit_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_undo_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/*
 * gr_ring_state_hand_over() turns written slots into frames, in this order.
 * gr_ring_state_cancel_write() and gr_ring_state_give_back() make slots free.
 */
void gr_ring_state_hand_over(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/*
 * Makes frames unread again, at their place in the order. In GR_RING_NEWEST, drops a frame if a
 * newer frame has been read or is being read.
 */
void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

void gr_ring_state_count(const struct gr_ring_state *state, gr_ring_info *counts);

#endif
