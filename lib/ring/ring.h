/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The internal struct of a ring. slot_state.c has the states of slots, slot_use.c orders the two
 * sides, and slot_life.c adds and ends slots. link/ shares a ring with another process. ring.c,
 * acquire.c, hand_over.c, descriptor.c, link/send_ring.c and link/receive_ring.c contain the public
 * functions.
 */
#ifndef GR_LIB_RING_RING_H
#define GR_LIB_RING_RING_H

#include <grinterop/ring.h>

#include "lib/base/lock.h"
#include "lib/ring/slot_state.h"

struct gr_link;
struct gr_link_operations;

/* The descriptor that a role polls. */
struct gr_ring_descriptor {
    int fd;         /* an eventfd; -1: never requested */
    uint32_t slots; /* the number of slots that it reports */
};

struct gr_ring {
    /*
     * Protects all members except constants and the arrays of the sides, which only their side
     * uses.
     */
    struct gr_lock lock;
    struct gr_condition changed;
    struct gr_ring_state state;
    struct gr_ring_side writer, reader; /* the producer's side, the consumer's side */
    /*
     * The ring's own pair, or NULL; and the pair that the resources had before the ring replaced
     * it, or NULL if the ring has not.
     */
    struct gr_semaphore_pair *own, *given;
    /* the descriptors of the producer and of the consumer */
    struct gr_ring_descriptor descriptors[2];
    bool is_polled; /* at least one descriptor is open */
    /* the link to the process with the other side; NULL: the ring is not shared */
    struct gr_link *link;
    const struct gr_link_operations *link_ops; /* take `link`, also if it is NULL */
    bool is_sending; /* the ring is being sent: all slots stay free until the link exists */
};

/* Refuses NULL. */
gr_status gr_ring_check(const gr_ring *ring);

/* Refuses invalid roles. */
gr_status gr_ring_check_role(gr_ring_role role);

/* Returns the resource of a slot that is not leaving. All other resources are of the same kind. */
gr_resource *gr_ring_any_resource(const gr_ring *ring);

/* Wakes waiting acquires and updates the poll descriptors. The lock is held. */
void gr_ring_notify(gr_ring *ring);

/* Called by the thread that watches the peer. Takes the lock. */
void gr_ring_peer_changed(gr_ring *ring);

/* Updates whether the poll descriptors are readable. The lock is held. */
void gr_ring_update_pollers(gr_ring *ring);

/* Closes the poll descriptors of a ring. */
void gr_ring_end_descriptors(gr_ring *ring);

#endif
