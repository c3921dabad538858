/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Notifies the threads and processes that wait for a ring. */
#ifndef GR_LIB_RING_NOTIFY_H
#define GR_LIB_RING_NOTIFY_H

#include "lib/ring/ring.h"

/* Wakes waiting acquires and updates the poll descriptors. The lock is held. */
void gr_ring_notify(gr_ring *ring);

/* Called by the thread that watches the peer. Takes the lock. */
void gr_ring_peer_changed(gr_ring *ring);

#endif
