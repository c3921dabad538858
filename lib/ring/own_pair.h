/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A ring's own pair of semaphores, for resources that use the pair of their device. All resources
 * of a device share that pair, so that each side would also wait for unrelated work.
 */
#ifndef GR_LIB_RING_OWN_PAIR_H
#define GR_LIB_RING_OWN_PAIR_H

#include "lib/ring/ring.h"

/*
 * If the n resources use the pair of their device, switches them to the ring's own. Waits for their
 * last work. All or nothing.
 */
gr_status gr_ring_set_own_pair(gr_ring *ring, gr_resource *const resources[], size_t n,
                               const char *call);

/* Switches a resource whose work is done back to the device's pair. */
void gr_ring_restore_pair(const gr_ring *ring, gr_resource *resource);

/* Frees the ring's pair, if it has one. */
void gr_ring_end_pair(gr_ring *ring);

#endif
