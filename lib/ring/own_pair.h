/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A ring's own pair of semaphores, for resources that use the pair of their device. All resources
 * of a device share the device's pair, so each side of the ring would also wait for unrelated work.
 * A resource that leaves the ring gets the pair back that it had before.
 */
#ifndef GR_LIB_RING_OWN_PAIR_H
#define GR_LIB_RING_OWN_PAIR_H

#include "lib/ring/ring.h"

/*
 * If the n resources use the pair of their device, switches all of them to the pair of the ring.
 * Waits for their last work. After an error no resource has changed.
 */
gr_status gr_ring_set_own_pair(gr_ring *ring, gr_resource *const resources[], size_t n,
                               const char *call);

/* Remembers the pair of the resource, which all slots have. Does nothing the second time. */
void gr_ring_keep_given(gr_ring *ring, const gr_resource *resource);

/*
 * Gives a resource the pair back that it had before the ring was sent. Waits for its last work, and
 * logs a failure.
 */
void gr_ring_end_sharing(const gr_ring *ring, gr_resource *resource, const char *call);

/* Also gives the resource the pair back that it had before the ring was created. */
void gr_ring_restore_pair(const gr_ring *ring, gr_resource *resource);

/* Frees the pair of the ring, if it has one. */
void gr_ring_end_pair(gr_ring *ring);

#endif
