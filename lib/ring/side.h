/* SPDX-License-Identifier: Apache-2.0 */
/* One side of a ring, which writes or reads, and the slots that it has in hand in a call. */
#ifndef GR_LIB_RING_SIDE_H
#define GR_LIB_RING_SIDE_H

#include <stdbool.h>

#include "lib/ring/slot_state.h"

/* The arrays are kept from call to call, so that a call allocates nothing: n of each. */
struct gr_ring_side {
    bool writes;  /* it is the producer's; else the consumer's */
    bool is_cuda; /* else the graphics API's */
    size_t room;
    gr_resource **resources;
    gr_buffer **buffers;
    gr_submit **submits;
    uint32_t *numbers; /* of the places in the state */
};

/* Room for n. What was in the arrays is lost. */
gr_status gr_ring_side_reserve(struct gr_ring_side *side, size_t n, const char *call);

/* Frees the arrays. */
void gr_ring_side_end(struct gr_ring_side *side);

/*
 * The steps of an acquire for the n slots whose numbers the side has; a claim writes them down.
 * False: there are not so many.
 */
bool gr_ring_side_claim(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);
void gr_ring_side_commit(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);
void gr_ring_side_undo(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);

#endif
