/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ends the slots of a ring. */
#ifndef GR_LIB_RING_SLOT_END_H
#define GR_LIB_RING_SLOT_END_H

#include "lib/ring/ring.h"

/* Whether gr_ring_end_left() has slots to end. The lock is held. */
bool gr_ring_has_left(const gr_ring *ring);

/* Ends free slots that are leaving. The lock is not held, because this may take long. */
void gr_ring_end_left(gr_ring *ring);

/* Ends all slots, in any state. */
void gr_ring_end_all(gr_ring *ring);

#endif
