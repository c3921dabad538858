/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring as the library's own files see it. slot_state.c says which slot is next, side.c has what a
 * side has in hand, side_order.c orders the sides, slot_resources.c makes and ends slots,
 * shown_slots.c is what the application is shown of them; life.c,
 * acquire.c and hand_over.c are what the application calls.
 */
#ifndef GR_LIB_RING_RING_H
#define GR_LIB_RING_RING_H

#include <pthread.h>

#include <grinterop/ring.h>

#include "lib/ring/shown_slots.h"
#include "lib/ring/side.h"
#include "lib/ring/slot_state.h"

/* What a slot is made of, at the place that the state has for it. */
struct gr_ring_slot {
    gr_resource *resource; /* NULL: there is no slot here */
    gr_buffer *buffer;     /* while CUDA has it */
    gr_submit *submit;     /* while Vulkan has it; several slots may have the same */
    unsigned index;        /* as the application counts */
};

/* A slot that has left, whose end Vulkan's submits hold up. */
struct gr_ring_left {
    gr_resource *resource;
    CUevent after;
};

struct gr_link;

/* By which a role polls. */
struct gr_ring_descriptor {
    int fd; /* an eventfd; -1: nobody has asked for it */
    bool readable;
};

struct gr_ring {
    pthread_mutex_t lock; /* for all but what is fixed, and a side's arrays, which it uses alone */
    pthread_cond_t changed;
    int clock; /* of the condition's deadlines, for clock_gettime() */
    struct gr_ring_state *state;
    struct gr_ring_slot *slots;   /* state->room of them */
    struct gr_shown_slots *shown; /* likewise, as the application sees them */
    struct gr_ring_left *left;    /* room for all slots that there have been at once */
    uint32_t left_count, left_room;
    struct gr_ring_side writer, reader; /* the producer's side, and the consumer's */
    /* acquire and release: the ring's own, and the device's that they stand for; NULL: there are
     * none */
    gr_semaphore *own[2], *given[2];
    bool by_commands; /* graphics takes commands from its thread, as OpenGL does */
    struct gr_ring_descriptor descriptors[2]; /* the producer's, the consumer's */
    bool is_polled;                           /* there is one */
    struct gr_link *link; /* to the process that has the other side; NULL: there is none */
    bool is_sending;      /* until there is: the slots stay as they are, and free */
};

/* Refuses NULL. */
gr_status gr_ring_check(const gr_ring *ring, const char *call);

/* Refuses what is no role. */
gr_status gr_ring_check_role(gr_ring_role role, const char *call);

/* A ring without slots; NULL, and the error. The options were checked. */
gr_ring *gr_ring_make_empty(const gr_ring_options *options, const char *call);

/* Frees a ring whose slots have ended, or one that is half made. */
void gr_ring_free_empty(gr_ring *ring);

/* The resource of a slot that does not leave, which all others are like. */
gr_resource *gr_ring_any_resource(const gr_ring *ring);

#endif
