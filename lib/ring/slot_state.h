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

enum gr_place_state {
    GR_PLACE_NONE = 0, /* no slot */
    GR_PLACE_FREE,
    GR_PLACE_WRITING,  /* the producer has it */
    GR_PLACE_READY,    /* published, not read */
    GR_PLACE_READING,  /* the consumer has it */
    GR_PLACE_RETURNING /* given back, and free together with others */
};

/*
 * A slot. Its number is its place in the array, which stays the same as long as there is the slot.
 */
struct gr_ring_place {
    uint32_t state;   /* enum gr_place_state */
    uint32_t before;  /* what it was before it was claimed */
    uint32_t leaving; /* replaced by a resize: it ends once it is free */
    uint32_t listed;  /* scratch of a call over many slots: met already */
    uint64_t frame;   /* that is in it, or, being written, that is expected to be */
    uint64_t turn;    /* free ones are taken in the order in which they became free */
};

struct gr_ring_state {
    uint32_t newest;  /* GR_RING_NEWEST */
    uint32_t stopped; /* nothing is written any more */
    uint32_t room;    /* of the array */
    uint32_t slots;   /* those that do not leave */
    uint32_t leaving; /* those that do */
    uint64_t published, read, dropped;
    uint64_t last_read;       /* the newest frame that the consumer has taken, and not put back */
    uint64_t last_given_back; /* the newest that it has given back */
    uint64_t last_turn;
    struct gr_ring_place places[];
};

/* Bytes of a state with so much room, and a state without slots in zeroed memory of that size. */
size_t gr_ring_state_size(uint32_t room);
void gr_ring_state_init(struct gr_ring_state *state, uint32_t room, bool newest);

/* A new free slot; there has to be room. Returns its number. */
uint32_t gr_ring_state_add(struct gr_ring_state *state);

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
