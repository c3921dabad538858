/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One side of a ring, which writes or reads, and the slots of its current call. */
#ifndef GR_LIB_RING_SIDE_H
#define GR_LIB_RING_SIDE_H

#include <stdbool.h>

#include "lib/ring/slot_state.h"

/* The arrays have `room` entries each. They are kept, so that calls do not allocate. */
struct gr_ring_side {
    bool writes;  /* true: the side of the producer; false: of the consumer */
    bool is_cuda; /* true: CUDA; false: the graphics API */
    size_t room;
    gr_resource **resources;
    gr_buffer **buffers;
    gr_submit **submits;
    uint32_t *numbers; /* the indices of the slots in the state */
};

/* Makes room for n slots. The contents of the arrays are lost. */
gr_status gr_ring_side_reserve(struct gr_ring_side *side, size_t n, const char *call);

/* Frees the arrays. */
void gr_ring_side_end(struct gr_ring_side *side);

/*
 * The steps of an acquire of n slots. A claim chooses the slots and stores their numbers; it
 * returns false if fewer than n are available. A commit makes the claim final, and an undo reverts
 * it.
 */
bool gr_ring_side_claim(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);
void gr_ring_side_commit(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);
void gr_ring_side_undo(const struct gr_ring_side *side, struct gr_ring_state *state, size_t n);

#endif
