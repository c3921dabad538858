/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring as the library's own files see it: ring.c has its life, acquire.c and hand_over.c what the
 * two sides call, side.c what a side has in hand, slot_state.c says which slot is next,
 * slot_resources.c makes and ends slots, order.c orders the sides.
 */
#ifndef GR_LIB_RING_RING_H
#define GR_LIB_RING_RING_H

#include <pthread.h>

#include <grinterop/ring.h>

#include "lib/ring/peer_link.h"
#include "lib/ring/side.h"
#include "lib/ring/slot_state.h"

/* What a slot is made of, at the place that the state has for it. */
struct gr_ring_slot {
    gr_resource *resource; /* NULL: there is no slot here */
    gr_buffer *buffer;     /* while CUDA has it */
    unsigned index;        /* as the application counts */
};

/* A slot that has left, whose end Vulkan's submits hold up. */
struct gr_ring_left {
    gr_resource *resource;
    CUevent after;
};

struct gr_ring {
    pthread_mutex_t lock; /* for all but what is fixed, and a side's arrays, which it uses alone */
    pthread_cond_t changed;
    int clock; /* of the condition's deadlines, for clock_gettime() */
    unsigned wait_ms;
    struct gr_ring_state *state;
    struct gr_ring_slot *slots; /* state->room of them */
    struct gr_ring_left *left;  /* room for all slots that there have been at once */
    uint32_t left_count, left_room;
    struct gr_ring_side writer, reader; /* the producer's side, and the consumer's */
    struct gr_link *link; /* to the process that has the other side; NULL: there is none */
};

/* Refuses NULL. */
gr_status gr_ring_check(const gr_ring *ring, const char *call);

/* Whether gr_ring_end_left() has something to do. The lock is held. */
static inline bool gr_ring_has_left(const gr_ring *ring)
{
    return ring->state->leaving > 0 || ring->left_count > 0;
}

/* ---- The slots (slot_resources.c) ------------------------------------------------------------ */

/* Whether n resources can become slots, together and beside `like`, which may be NULL. */
gr_status gr_ring_check_resources(gr_resource *const resources[], size_t n, gr_resource *like,
                                  const char *call);

/*
 * Makes them slots, and lets the ones that are there leave. The graphics API signals that it is
 * done with them as far as it takes commands from this thread. All or nothing.
 */
gr_status gr_ring_add_slots(gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

/* The resource of a slot that does not leave, which all others are like. */
gr_resource *gr_ring_any_resource(const gr_ring *ring);

/* Ends those that leave and are free. Without the lock, since an end may take its time. */
void gr_ring_end_left(gr_ring *ring);

/* Ends all slots, whoever has them. */
void gr_ring_end_all(gr_ring *ring);

/* ---- From side to side (order.c): without the lock ------------------------------------------- */

/*
 * The side begins to use its n resources: CUDA maps them, into its buffers, graphics
 * waits for what was released; *submit is what Vulkan's submit has to do.
 */
gr_status gr_ring_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            CUstream stream, gr_submit *submit, const char *call);

/*
 * It hands them on. After an error the side still has them; buffers that were released all the same
 * are NULL.
 */
gr_status gr_ring_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool discarded,
                          const char *call);

/*
 * At give_back, with the lock, for the n slots that the consumer has in hand: 0 if the end of their
 * use is put off, else puts those behind them whose end was, and returns how many there are then.
 */
size_t gr_ring_take_returned(gr_ring *ring, size_t n);

/* Instead of gr_ring_end_use(): only whether this thread might. */
gr_status gr_ring_put_off_end(const gr_ring *ring, const char *call);

/*
 * Ends the use of all slots where that was put off, so that they are free. The lock is held, and
 * let go while OpenGL signals; the calling side's arrays are overwritten. GR_OK also if there are
 * none.
 */
gr_status gr_ring_end_returned(gr_ring *ring, struct gr_ring_side *side, const char *call);

/* What has been returned is free: its use has ended. The lock is held. */
void gr_ring_free_returned(gr_ring *ring);

/* Whether gr_ring_end_returned() has something to do, and this thread may. The lock is held. */
bool gr_ring_can_end_returned(const gr_ring *ring, const char *call);

/*
 * The graphics API is done with resources that it had before they came into the ring, and CUDA
 * comes first.
 */
gr_status gr_ring_first_use(const gr_ring *ring, gr_resource *const resources[], size_t n,
                            const char *call);

#endif
