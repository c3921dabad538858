/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a ring: which resources can be some, and their begin and end. */
#ifndef GR_LIB_RING_SLOT_RESOURCES_H
#define GR_LIB_RING_SLOT_RESOURCES_H

#include "lib/ring/ring.h"

/* Whether n resources can become slots, together and beside `like`, which may be NULL. */
gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, gr_resource *like,
                                  const char *call);

/*
 * Makes them slots, and lets the ones that are there leave. The graphics API signals that it is
 * done with them as far as it takes commands from this thread. All or nothing.
 */
gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/* Whether gr_ring_end_left() has something to do. The lock is held. */
bool gr_ring_has_left(const gr_ring *ring);

/* Ends those that leave and are free. Without the lock, since an end may take its time. */
void gr_ring_end_left(gr_ring *ring);

/* Ends all slots, whoever has them. */
void gr_ring_end_all(gr_ring *ring);

#endif
