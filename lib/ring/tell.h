/* SPDX-License-Identifier: Apache-2.0 */
/* Tells who waits for a ring that something has changed. */
#ifndef GR_LIB_RING_TELL_H
#define GR_LIB_RING_TELL_H

#include "lib/ring/ring.h"

/* Who waits looks again, in an acquire or in a poll. The lock is held. */
void gr_ring_tell(gr_ring *ring);

/* What the thread calls that hears from the other process. It takes the lock. */
void gr_ring_peer_changed(gr_ring *ring);

#endif
