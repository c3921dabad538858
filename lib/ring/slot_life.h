/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks which resources can be slots of a ring, adds slots, and ends them. */
#ifndef GR_LIB_RING_SLOT_LIFE_H
#define GR_LIB_RING_SLOT_LIFE_H

#include "lib/ring/ring.h"

/* Checks that n resources can become slots together, and slots of `ring` if it is not NULL. */
gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, const gr_ring *ring);

/*
 * Makes n resources slots of the ring, and marks the existing slots as leaving. If the graphics API
 * takes commands from this thread, it signals that its use of the resources has ended. After an
 * error nothing has changed.
 */
gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n);

/*
 * Ends replaced slots that are free. gr_ring_end_left() is called without the lock, because this
 * may take long. gr_ring_unlock_and_end_left() releases the lock first.
 */
void gr_ring_end_left(gr_ring *ring);
void gr_ring_unlock_and_end_left(gr_ring *ring);

/* Ends all slots, in any state. */
void gr_ring_end_all(gr_ring *ring);

#endif
