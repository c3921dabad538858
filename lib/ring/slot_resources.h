/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a ring: which resources can be some, and their begin. */
#ifndef GR_LIB_RING_SLOT_RESOURCES_H
#define GR_LIB_RING_SLOT_RESOURCES_H

#include "lib/ring/ring.h"

/* Whether n resources can become slots together, and of that ring, which may be NULL. */
gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, const gr_ring *ring,
                                  const char *call);

/* Whether the ring has to tell a submit of the application's what to wait for. */
bool gr_ring_is_submitted(const gr_resource *resource);

/*
 * Makes them slots, and lets the ones that are there leave. The graphics API signals that it is
 * done with them as far as it takes commands from this thread. All or nothing.
 */
gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

#endif
