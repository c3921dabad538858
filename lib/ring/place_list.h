/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring's slots, in lists, one for each state: what they are, and moving one from list to list.
 * Integers without pointers, as slot_state.h has them.
 */
#ifndef GR_LIB_RING_PLACE_LIST_H
#define GR_LIB_RING_PLACE_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum gr_place_state {
    GR_PLACE_NONE = 0, /* no slot */
    GR_PLACE_FREE,
    GR_PLACE_WRITING,   /* the producer has it */
    GR_PLACE_READY,     /* published, not read */
    GR_PLACE_READING,   /* the consumer has it */
    GR_PLACE_RETURNING, /* given back, and free together with others */
    GR_PLACE_STATES,
    GR_PLACE_LEFT = GR_PLACE_STATES, /* no state: the list of those that leave and are free */
    GR_PLACE_LISTS
};

/*
 * A slot. Its number is its place in the array, which stays the same as long as there is the slot.
 */
struct gr_ring_place {
    uint32_t state;          /* enum gr_place_state */
    uint32_t before;         /* what it was before it was claimed */
    uint32_t leaving;        /* replaced by a resize: it ends once it is free */
    uint32_t listed;         /* scratch of a call over many slots: met already */
    uint64_t frame;          /* that is in it, or, being written, that is expected to be */
    uint64_t turn;           /* free ones are taken in the order in which they became free */
    uint32_t previous, next; /* in its state's list, where it is not the first or the last */
};

/* The slots of one state: place_list.c. */
struct gr_place_list {
    uint32_t first, last; /* where there are some */
    uint32_t count;
    uint32_t leaving; /* of them */
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
    uint32_t maybe_none; /* no number below this is without a slot */
    struct gr_place_list lists[GR_PLACE_LISTS];
    struct gr_ring_place places[];
};

/*
 * Gives the slot that state, and its place in that list. Its frame, if it becomes READY, and its
 * turn have been set by then: both lists are in the order in which slots are taken.
 */
void gr_place_move(struct gr_ring_state *state, uint32_t number, enum gr_place_state into);

/* The slot leaves. Not twice. */
void gr_place_leave(struct gr_ring_state *state, uint32_t number);

/* The slot gets another number, which has none; the old one has none then. */
void gr_place_renumber(struct gr_ring_state *state, uint32_t from, uint32_t to);

#endif
