/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The slots of a ring in lists, one per state. They contain integers, no pointers: see
 * slot_state.h.
 */
#ifndef GR_LIB_RING_PLACE_LIST_H
#define GR_LIB_RING_PLACE_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum gr_place_state {
    GR_PLACE_NONE = 0, /* the place has no slot */
    GR_PLACE_FREE,
    GR_PLACE_WRITING, /* acquired by the producer */
    GR_PLACE_READY,   /* handed over, and not read yet */
    GR_PLACE_READING, /* acquired by the consumer */
    GR_PLACE_STATES,
    GR_PLACE_LEFT = GR_PLACE_STATES, /* not a state: the list of free slots that are leaving */
    GR_PLACE_LISTS
};

/* A slot. Its number is its index in the array; only gr_place_renumber() changes the number. */
struct gr_ring_place {
    uint32_t state;   /* enum gr_place_state */
    uint32_t before;  /* the state before the claim */
    uint32_t leaving; /* the slot was replaced by a resize, and ends once it is free */
    uint32_t listed;  /* temporary mark during a call with many slots: the slot was seen */
    /* the number of its frame; while the frame is being written, the expected number */
    uint64_t frame;
    uint64_t turn; /* the order in which slots became free, and in which they are taken */
    /* neighbours in the list of the state; unset at the ends of the list */
    uint32_t previous, next;
};

/* The slots of one state. */
struct gr_place_list {
    uint32_t first, last; /* valid only if count > 0 */
    uint32_t count;
    uint32_t leaving; /* how many of them are leaving */
};

struct gr_ring_state {
    uint32_t newest;  /* whether the mode is GR_RING_NEWEST */
    uint32_t stopped; /* whether the ring was stopped: no more writes */
    uint32_t room;    /* the size of the array */
    uint32_t slots;   /* the number of slots that are not leaving */
    uint32_t leaving; /* the number of slots that are leaving */
    uint64_t written, read, dropped;
    uint64_t last_read;       /* the newest frame that was read and whose read was not cancelled */
    uint64_t last_given_back; /* the newest frame that was given back */
    uint64_t last_turn;
    uint32_t maybe_none; /* all numbers below this one have slots */
    struct gr_place_list lists[GR_PLACE_LISTS];
    struct gr_ring_place places[];
};

/*
 * Sets the state of a slot and moves it to the list of that state. The caller has already set its
 * `turn`, and its `frame` if the slot becomes READY, because the lists of FREE and READY slots are
 * in the order in which slots are taken.
 */
void gr_place_move(struct gr_ring_state *state, uint32_t number, enum gr_place_state into);

/* Marks the slot as leaving. Must not be called twice. */
void gr_place_leave(struct gr_ring_state *state, uint32_t number);

/* Moves the slot to an unused number. The old number becomes unused. */
void gr_place_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

#endif
