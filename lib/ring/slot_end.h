/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a ring's slots. */
#ifndef GR_LIB_RING_SLOT_END_H
#define GR_LIB_RING_SLOT_END_H

#include "lib/ring/ring.h"

/* Whether gr_ring_end_left() has something to do. The lock is held. */
bool gr_ring_has_left(const gr_ring *ring);

/* Ends those that leave and are free. Without the lock, since an end may take its time. */
void gr_ring_end_left(gr_ring *ring);

/* Ends all slots, whoever has them. */
void gr_ring_end_all(gr_ring *ring);

#endif
