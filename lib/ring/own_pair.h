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
gr_status gr_ring_set_own_pair(gr_ring *ring, gr_resource *const resources[], size_t n);

/*
 * Switches n resources with equal pairs to another pair. Waits for their last release. After an
 * error no resource has changed.
 */
gr_status gr_ring_switch_pair(gr_resource *const resources[], size_t n,
                              struct gr_semaphore_pair *pair);

/*
 * Gives a resource the pair back that it had before; NULL: it still has that pair. Waits for its
 * last release, and logs a failure.
 */
void gr_ring_restore_pair(gr_resource *resource, struct gr_semaphore_pair *pair);

#endif
