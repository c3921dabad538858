/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that two processes share for a ring, and one process's view of it. Nothing in the page
 * is trusted, and nothing in it can be left locked.
 */
#ifndef GR_LIB_RING_PEER_PAGE_H
#define GR_LIB_RING_PEER_PAGE_H

#include <stdatomic.h>

#include "lib/ring/side.h"

/* ---- The page -------------------------------------------------------------------------------- */

/*
 * Who has a slot, and the frame in it, in one word: frame * 4 + owner. A word is changed by its
 * owner, or by a compare-and-exchange out of READY, so that each frame is read or dropped once.
 * Frames only grow: a word comes again only where a read was cancelled, as the same frame.
 */
enum gr_owner {
    GR_OWNER_PRODUCER = 0, /* at first, and when the consumer has read it */
    GR_OWNER_READY,
    GR_OWNER_CONSUMER,
    GR_OWNER_DROPPED /* by the consumer, and so the producer's */
};

struct gr_page_slot {
    _Atomic uint64_t word;

    /* The producer's semaphore's value after which it can be read; 0: at once. */
    _Atomic uint64_t written;

    /* The consumer's, after which it can be written: of a read, or of one that was cancelled. */
    _Atomic uint64_t given_back;
};

struct gr_page {
    _Atomic uint64_t published; /* frames up to here are in the slots */
    _Atomic uint32_t stopped;
    _Atomic uint32_t ended[2];   /* a role has freed its ring; the producer's, the consumer's */
    _Atomic uint32_t waiting[2]; /* a role waits for the socket */
    struct gr_page_slot slots[];
};

/* A new page's descriptor, the caller's, sealed; -1 and the error. */
int gr_page_create(uint32_t slots, const char *call);

/*
 * Maps one that may come from a peer: GR_ERR_INVALID_VALUE if it is none, or could be taken away.
 */
gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call);
void gr_page_unmap(struct gr_page *page, uint32_t slots); /* NULL: nothing to do */

/* ---- One process's view of it: with the ring's lock ------------------------------------------ */

/* What this process knows of a slot. */
struct gr_page_seen {
    uint64_t word;       /* as it was last seen or written */
    uint64_t in;         /* the peer's value to wait for before the next use; 0: none */
    uint64_t out;        /* this process's value for the peer */
    uint64_t given_back; /* as it was last read: only a new one is waited for */
};

struct gr_page_view {
    struct gr_page *page;
    struct gr_page_seen *seen;   /* of each slot */
    struct gr_ring_state *state; /* this process's, which the page is compared with */
    uint32_t count;
};

/* Brings the state up to date for that side. False: no peer of grinterop's does what was found. */
bool gr_page_pull(struct gr_page_view *view, const struct gr_ring_side *side);

/*
 * Claims in the page what the side has claimed in the state. False: the peer was faster, and
 * nothing is claimed.
 */
bool gr_page_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

/* The side's claim has been committed in the state, or undone. */
void gr_page_conclude(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                      bool final);

/* What the side has handed on in the state is the peer's now. */
void gr_page_push(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

/* What the consumer has cancelled in the state is there to be read again. */
void gr_page_cancel_read(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

#endif
