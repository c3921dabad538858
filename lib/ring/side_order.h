/* SPDX-License-Identifier: Apache-2.0 */
/* From one side of a ring to the other: without the ring's lock, where nothing else is said. */
#ifndef GR_LIB_RING_SIDE_ORDER_H
#define GR_LIB_RING_SIDE_ORDER_H

#include "lib/ring/ring.h"

enum gr_hand_over { GR_PUBLISHED, GR_WRITE_CANCELLED, GR_GIVEN_BACK, GR_READ_CANCELLED };

/*
 * Whether the side's n resources can be used without a wait of this thread for another process,
 * where no stream and no graphics API waits for it. The answer is there at once.
 */
gr_status gr_ring_has_come(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool *come,
                           const char *call);

/*
 * The side begins to use its n resources: CUDA maps them, into its buffers, graphics waits for what
 * was released; *submit is what Vulkan's submit has to do, and NULL where there is none.
 */
gr_status gr_ring_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            CUstream stream, gr_submit **submit, const char *call);

/*
 * It hands them on. After an error the side still has them; buffers that were released all the same
 * are NULL.
 */
gr_status gr_ring_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                          enum gr_hand_over how, const char *call);

/*
 * At give_back, with the lock, for the n slots that the consumer has in hand: 0 if the end of their
 * use is put off, else puts those behind them whose end was, and returns how many there are then.
 */
size_t gr_ring_take_returned(gr_ring *ring, size_t n);

/* Instead of gr_ring_end_use() for n slots: only whether this thread might. */
gr_status gr_ring_put_off_end(const gr_ring *ring, size_t n, const char *call);

/*
 * Ends the use of all slots where that was put off, so that they are free. The lock is held, and
 * let go while OpenGL signals; the calling side's arrays are overwritten. GR_OK also if there are
 * none.
 */
gr_status gr_ring_end_returned(gr_ring *ring, struct gr_ring_side *side, const char *call);

/* What has been returned is free: its use has ended. The lock is held. */
void gr_ring_free_returned(gr_ring *ring);

/* Whether gr_ring_end_returned() has something to do, and this thread may. The lock is held. */
bool gr_ring_can_end_returned(const gr_ring *ring);

/*
 * The graphics API is done with resources that it had before they came into the ring, and CUDA
 * comes first.
 */
gr_status gr_ring_first_use(const gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/*
 * The other way round, as a release does outside of a ring: the graphics API, which the resource
 * goes back to, waits for CUDA's last release. Where OpenGL cannot be told on this thread, the
 * thread waits for it.
 */
void gr_ring_last_use(gr_resource *resource);

#endif
