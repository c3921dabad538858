/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Notifies the threads and processes that wait for a ring. */
#include "lib/ring/notify.h"

#include "lib/ring/descriptor.h"

void gr_ring_notify(gr_ring *ring)
{
    pthread_cond_broadcast(&ring->changed);
    gr_ring_update_pollers(ring);
}

void gr_ring_peer_changed(gr_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    gr_ring_notify(ring);
    pthread_mutex_unlock(&ring->lock);
}
