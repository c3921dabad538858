/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The internal view of a ring. slot_state.c chooses the next slot, side.c keeps each side's slots
 * in hand, side_order.c orders the sides, slot_resources.c creates slots, slot_end.c ends them, and
 * shown_slots.c holds what the application sees of them. life.c, acquire.c and hand_over.c are the
 * public calls.
 */
#ifndef GR_LIB_RING_RING_H
#define GR_LIB_RING_RING_H

#include <pthread.h>

#include <grinterop/ring.h>

#include "lib/ring/shown_slots.h"
#include "lib/ring/side.h"
#include "lib/ring/slot_state.h"

/* The objects of a slot, at the same index as its place in the state. */
struct gr_ring_slot {
    gr_resource *resource; /* NULL: no slot here */
    gr_buffer *buffer;     /* while CUDA uses it */
    gr_submit *submit;     /* while Vulkan uses it; several slots may share one */
    unsigned index;        /* as the application counts */
};

/* A slot that has left while Vulkan submits still use it. */
struct gr_ring_left {
    gr_resource *resource;
    CUevent after;
};

struct gr_link;

/* The descriptor that a role polls. */
struct gr_ring_descriptor {
    int fd; /* an eventfd; -1: never requested */
    bool readable;
};

struct gr_ring {
    pthread_mutex_t
        lock; /* for all but constants and the sides' arrays, which each side uses alone */
    pthread_cond_t changed;
    int clock; /* the condition's clock, for clock_gettime() */
    struct gr_ring_state *state;
    struct gr_ring_slot *slots;   /* state->room entries */
    struct gr_shown_slots *shown; /* the same slots as the application sees them */
    struct gr_ring_left *left;    /* room for the largest number of slots ever */
    uint32_t left_count, left_room;
    struct gr_ring_side writer, reader; /* the producer's side, the consumer's side */
    /* The ring's own acquire and release semaphores, and the device pair replaced; may be NULL. */
    gr_semaphore *own[2], *given[2];
    bool by_commands; /* graphics takes commands from its thread, as OpenGL does */
    struct gr_ring_descriptor descriptors[2]; /* of the producer, of the consumer */
    bool is_polled;                           /* at least one is open */
    struct gr_link *link; /* to the process with the other side; NULL: not shared */
    bool is_sending;      /* being sent: all slots stay free until the link exists */
};

/* Refuses NULL. */
gr_status gr_ring_check(const gr_ring *ring, const char *call);

/* Refuses invalid roles. */
gr_status gr_ring_check_role(gr_ring_role role, const char *call);

/* A ring without slots; NULL and the error on failure. The options are already checked. */
gr_ring *gr_ring_make_empty(const gr_ring_options *options, const char *call);

/* Frees a ring whose slots have ended, or a half-created one. */
void gr_ring_free_empty(gr_ring *ring);

/* The resource of a slot that does not leave. All other resources are of the same kind. */
gr_resource *gr_ring_any_resource(const gr_ring *ring);

#endif
