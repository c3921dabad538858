/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Orders the two sides of a ring. Call these functions without the ring's lock unless stated
 * otherwise.
 */
#ifndef GR_LIB_RING_SLOT_USE_H
#define GR_LIB_RING_SLOT_USE_H

#include "lib/ring/ring.h"

/*
 * Begins the use of the side's n resources. A CUDA side maps them, and stores the buffers in its
 * array `buffers`. On a graphics side, the graphics API waits for the last release. *submit
 * receives the waits and signals for the Vulkan submit, or NULL if there are none.
 */
gr_status gr_ring_begin_use(gr_ring *ring, struct gr_ring_side *side, size_t n, CUstream stream,
                            gr_submit **submit);

/*
 * Ends the use of the side's n resources; `cancels`: the write or the read is undone. After an
 * error the side still has the resources; buffers that were released despite the error are NULL.
 */
gr_status gr_ring_end_use(gr_ring *ring, struct gr_ring_side *side, size_t n, bool cancels);

/* Ends a use of the resources by the graphics API, also one outside of the ring. */
gr_status gr_ring_end_graphics(gr_resource *const resources[], size_t n);

/*
 * Makes the graphics API wait for the last CUDA release when a resource leaves the ring, as after a
 * release outside a ring. If OpenGL cannot wait on this thread, the thread blocks.
 */
void gr_ring_last_use(gr_resource *resource);

#endif
