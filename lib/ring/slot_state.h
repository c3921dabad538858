/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has which slot of a ring, and which one is next: plain integers without pointers, so that the
 * same numbers can lie in a page that two processes share. Nothing here maps, waits or locks; the
 * caller keeps these calls apart from each other.
 *
 * An acquire has two steps, because the work in between may fail: a claim takes the slots, then
 * either the commit makes it final or the undo puts everything back. Frames are dropped by the
 * commit only.
 */
#ifndef GR_LIB_RING_SLOT_STATE_H
#define GR_LIB_RING_SLOT_STATE_H

#include <stdbool.h>

#include <grinterop/ring.h>

#include "lib/ring/place_list.h"

/* Bytes of a state with so much room, and a state without slots in zeroed memory of that size. */
size_t gr_ring_state_size(uint32_t room);
void gr_ring_state_init(struct gr_ring_state *state, uint32_t room, bool newest);

/* A new free slot; there has to be room. Returns its number. */
uint32_t gr_ring_state_add(struct gr_ring_state *state);

/* The slot gets a number that has none, when nobody knows its own. */
void gr_ring_state_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

/* All slots leave: they are used on as they are, but not written again. */
void gr_ring_state_leave(struct gr_ring_state *state);

/* A slot that leaves and is free: *number is not a slot any more. False: there is none. */
bool gr_ring_state_take_left(struct gr_ring_state *state, uint32_t *number);

/* Whether a claim of one would be good. */
bool gr_ring_state_can_write(const struct gr_ring_state *state);
bool gr_ring_state_can_read(const struct gr_ring_state *state);

/*
 * Claims n slots to write to, oldest first. False, and nothing is changed: there are not so many.
 */
bool gr_ring_claim_write(struct gr_ring_state *state, size_t n, uint32_t numbers[]);
void gr_ring_commit_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_undo_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/* Likewise n frames to read, in their order. */
bool gr_ring_claim_read(struct gr_ring_state *state, size_t n, uint32_t numbers[]);
void gr_ring_commit_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_undo_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/* What is written becomes frames in this order, or free; what was read becomes free. */
void gr_ring_state_publish(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_cancel_write(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_give_back(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/*
 * What was being read is unread again, in its place in the order. Where the newest frame is read,
 * one that is older than another that has been read, or is being read, is dropped instead.
 */
void gr_ring_state_cancel_read(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);

/*
 * What graphics has read may be returned first, and become free later, with others. That is put off
 * until half of the slots wait for it, and never for one that leaves.
 */
bool gr_ring_state_puts_off(const struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
void gr_ring_state_return(struct gr_ring_state *state, size_t n, const uint32_t numbers[]);
uint32_t gr_ring_state_returning(const struct gr_ring_state *state);
size_t gr_ring_state_list_returning(const struct gr_ring_state *state, uint32_t numbers[]);
void gr_ring_state_end_returning(struct gr_ring_state *state);

void gr_ring_state_count(const struct gr_ring_state *state, gr_ring_info *counts);

#endif
