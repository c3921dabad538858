/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The descriptors by which an application polls a ring. */
#ifndef GR_LIB_RING_DESCRIPTOR_H
#define GR_LIB_RING_DESCRIPTOR_H

#include "lib/ring/ring.h"

/* Updates whether the descriptors are readable. The lock is held. */
void gr_ring_update_pollers(gr_ring *ring);

/* Closes the descriptors of a ring. */
void gr_ring_end_descriptors(gr_ring *ring);

#endif
