/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring's own pair of semaphores, for resources that have the pair of their device: all of a
 * device's resources share that one, so that each side would also wait for others' work.
 */
#ifndef GR_LIB_RING_OWN_PAIR_H
#define GR_LIB_RING_OWN_PAIR_H

#include "lib/ring/ring.h"

/*
 * Gives n resources, which have the same pair, the ring's own, if theirs is the device's. Waits for
 * their last work. All or nothing.
 */
gr_status gr_ring_take_pair(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/* Gives one the device's again, whose work is done. */
void gr_ring_give_pair(const gr_ring *ring, gr_resource *resource);

/* Frees the ring's own, if it has one. */
void gr_ring_end_pair(gr_ring *ring);

#endif
