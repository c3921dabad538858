/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Orders the two sides of a ring. Call these functions without the ring's lock unless stated
 * otherwise.
 */
#ifndef GR_LIB_RING_SIDE_ORDER_H
#define GR_LIB_RING_SIDE_ORDER_H

#include "lib/ring/ring.h"

enum gr_hand_over { GR_PUBLISHED, GR_WRITE_CANCELLED, GR_GIVEN_BACK, GR_READ_CANCELLED };

/*
 * Whether the side can use its n resources without blocking this thread for another process. The
 * answer is relevant only if neither a stream nor the graphics API can wait. Does not block.
 */
gr_status gr_ring_peer_is_done(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool *come,
                               const char *call);

/*
 * Begins the use of the side's n resources. A CUDA side maps them, and stores the buffers in its
 * array `buffers`. On a graphics side, the graphics API waits for the last release. *submit
 * receives the waits and signals for the Vulkan submit, or NULL if there are none.
 */
gr_status gr_ring_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            CUstream stream, gr_submit **submit, const char *call);

/*
 * Ends the use of the side's n resources. After an error the side still has the resources; buffers
 * that were released despite the error are NULL.
 */
gr_status gr_ring_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                          enum gr_hand_over how, const char *call);

/*
 * For a give back of the n slots in the consumer's arrays: returns 0 if the end of their use is
 * deferred. Otherwise appends the slots that were deferred before, and returns the total number.
 * The lock is held.
 */
size_t gr_ring_collect_returned(gr_ring *ring, size_t n);

/*
 * Replaces gr_ring_end_use() for n slots whose end of use is deferred: checks the thread, and ends
 * their submits.
 */
gr_status gr_ring_defer_end(const gr_ring *ring, size_t n, const char *call);

/*
 * Ends all deferred uses, so that their slots become free. The lock is held, and is released while
 * OpenGL signals. Overwrites the arrays of the calling side. Returns GR_OK also if no use was
 * deferred.
 */
gr_status gr_ring_end_returned(gr_ring *ring, struct gr_ring_side *side, const char *call);

/* Frees the returned slots after their use has ended. The lock is held. */
void gr_ring_free_returned(gr_ring *ring);

/* Whether gr_ring_end_returned() has work that this thread may do. The lock is held. */
bool gr_ring_can_end_returned(const gr_ring *ring);

/*
 * Ends the earlier use of the resources by the graphics API, before CUDA uses the slots for the
 * first time.
 */
gr_status gr_ring_first_use(const gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/*
 * Makes the graphics API wait for the last CUDA release when a resource leaves the ring, as after a
 * release outside a ring. If OpenGL cannot wait on this thread, the thread blocks.
 */
void gr_ring_last_use(gr_resource *resource);

#endif
