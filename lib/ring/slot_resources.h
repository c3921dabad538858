/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks which resources can be slots of a ring, and adds slots. */
#ifndef GR_LIB_RING_SLOT_RESOURCES_H
#define GR_LIB_RING_SLOT_RESOURCES_H

#include "lib/ring/ring.h"

/* Checks that n resources can become slots together, and slots of `ring` if it is not NULL. */
gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, const gr_ring *ring,
                                  const char *call);

/*
 * Makes n resources slots of the ring, and marks the existing slots as leaving. If the graphics API
 * takes commands from this thread, it signals that its use of the resources has ended. After an
 * error nothing has changed.
 */
gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

#endif
