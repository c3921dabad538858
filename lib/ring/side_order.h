/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Orders the two sides of a ring. Call without the ring's lock unless stated otherwise. */
#ifndef GR_LIB_RING_SIDE_ORDER_H
#define GR_LIB_RING_SIDE_ORDER_H

#include "lib/ring/ring.h"

enum gr_hand_over { GR_PUBLISHED, GR_WRITE_CANCELLED, GR_GIVEN_BACK, GR_READ_CANCELLED };

/*
 * Whether the side can use its n resources without blocking this thread for another process.
 * Matters only if neither a stream nor the graphics API can wait. Returns at once.
 */
gr_status gr_ring_peer_is_done(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool *come,
                               const char *call);

/*
 * Begins the use of the side's n resources: CUDA maps them into its buffers; graphics waits for the
 * last release. *submit receives what the Vulkan submit has to do, NULL if there is none.
 */
gr_status gr_ring_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            CUstream stream, gr_submit **submit, const char *call);

/*
 * Ends the use. After an error the side still has the resources; buffers that were released
 * nevertheless are NULL.
 */
gr_status gr_ring_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                          enum gr_hand_over how, const char *call);

/*
 * For give_back, with the lock held, for the n slots in the consumer's arrays. Returns 0 if the end
 * of their use is deferred. Otherwise appends the slots that were deferred before, and returns the
 * total.
 */
size_t gr_ring_collect_returned(gr_ring *ring, size_t n);

/* Replaces gr_ring_end_use() for n deferred slots: checks the thread, settles their submits. */
gr_status gr_ring_defer_end(const gr_ring *ring, size_t n, const char *call);

/*
 * Ends the use of all deferred slots, so that they become free. The lock is held, and released
 * while OpenGL signals. Overwrites the arrays of the calling side. GR_OK also if there are no such
 * slots.
 */
gr_status gr_ring_end_returned(gr_ring *ring, struct gr_ring_side *side, const char *call);

/* Frees the returned slots after their use has ended. The lock is held. */
void gr_ring_free_returned(gr_ring *ring);

/* Whether gr_ring_end_returned() has work that this thread may do. The lock is held. */
bool gr_ring_can_end_returned(const gr_ring *ring);

/* Before CUDA uses the slots first: ends the graphics API's earlier use of the resources. */
gr_status gr_ring_first_use(const gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/*
 * When a resource leaves the ring: the graphics API waits for the last CUDA release, as after a
 * release outside a ring. If OpenGL cannot wait on this thread, the thread blocks.
 */
void gr_ring_last_use(gr_resource *resource);

#endif
