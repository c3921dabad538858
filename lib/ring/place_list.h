/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A ring's slots in lists, one per state. Integers, no pointers: see slot_state.h. */
#ifndef GR_LIB_RING_PLACE_LIST_H
#define GR_LIB_RING_PLACE_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum gr_place_state {
    GR_PLACE_NONE = 0, /* no slot */
    GR_PLACE_FREE,
    GR_PLACE_WRITING,   /* by the producer */
    GR_PLACE_READY,     /* handed over, not read */
    GR_PLACE_READING,   /* by the consumer */
    GR_PLACE_RETURNING, /* given back; becomes free together with others */
    GR_PLACE_STATES,
    GR_PLACE_LEFT = GR_PLACE_STATES, /* not a state: the list of free slots that leave */
    GR_PLACE_LISTS
};

/* A slot. Its number is its index in the array, which is constant while the slot exists. */
struct gr_ring_place {
    uint32_t state;          /* enum gr_place_state */
    uint32_t before;         /* its state before the claim */
    uint32_t leaving;        /* replaced by a resize: ends once it is free */
    uint32_t listed;         /* scratch of a call with many slots: already seen */
    uint64_t frame;          /* its frame; while it is written, the expected one */
    uint64_t turn;           /* free slots are taken in the order in which they became free */
    uint32_t previous, next; /* in the list of its state, unless it is the first or last */
};

/* The slots of one state. */
struct gr_place_list {
    uint32_t first, last; /* valid if count > 0 */
    uint32_t count;
    uint32_t leaving; /* how many of them leave */
};

struct gr_ring_state {
    uint32_t newest;  /* GR_RING_NEWEST */
    uint32_t stopped; /* no more writes */
    uint32_t room;    /* size of the array */
    uint32_t slots;   /* that do not leave */
    uint32_t leaving; /* that leave */
    uint64_t written, read, dropped;
    uint64_t last_read;       /* the newest frame taken and not put back by the consumer */
    uint64_t last_given_back; /* the newest frame given back */
    uint64_t last_turn;
    uint32_t maybe_none; /* all numbers below this one have slots */
    struct gr_place_list lists[GR_PLACE_LISTS];
    struct gr_ring_place places[];
};

/*
 * Sets the slot's state and moves it to that list. The caller has already set its turn, and its
 * frame if it becomes READY: both lists are in the order in which slots are taken.
 */
void gr_place_move(struct gr_ring_state *state, uint32_t number, enum gr_place_state into);

/* Marks the slot as leaving. Must not be called twice. */
void gr_place_leave(struct gr_ring_state *state, uint32_t number);

/* Moves the slot to an unused number. The old number becomes unused. */
void gr_place_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

#endif
