/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The page that two processes share for a ring, and one process's view of it. Nothing in the page
 * is trusted, and it contains no locks that a peer could leave locked.
 */
#ifndef GR_LIB_RING_PEER_PAGE_H
#define GR_LIB_RING_PEER_PAGE_H

#include <stdatomic.h>

#include "lib/ring/side.h"

/* ---- The page -------------------------------------------------------------------------------- */

/*
 * The owner of a slot and its frame, in one word: frame * 4 + owner. Only the owner changes a word,
 * or a compare-and-exchange out of READY, so that each frame is read or dropped once. Frame numbers
 * only grow. A word recurs only after a cancelled read, for the same frame.
 */
enum gr_owner {
    GR_OWNER_PRODUCER = 0, /* at first, and after the consumer has read it */
    GR_OWNER_READY,
    GR_OWNER_CONSUMER,
    GR_OWNER_DROPPED /* by the consumer: the producer owns it again */
};

struct gr_page_slot {
    _Atomic uint64_t word;

    /* The value of the producer's semaphore after which it can be read; 0: at once. */
    _Atomic uint64_t written;

    /* The value of the consumer's semaphore after its read, even a cancelled one. */
    _Atomic uint64_t given_back;
};

struct gr_page {
    _Atomic uint64_t written; /* frames up to this one are in the slots */
    _Atomic uint32_t stopped;
    _Atomic uint32_t ended[2];   /* a role has freed its ring: the producer, the consumer */
    _Atomic uint32_t waiting[2]; /* a role waits for the socket */
    struct gr_page_slot slots[];
};

/* Returns the descriptor of a new sealed page, owned by the caller; -1 and the error on failure. */
int gr_page_create(uint32_t slots, const char *call);

/*
 * Maps a page that may come from a peer: GR_ERR_INVALID_VALUE if it is not a valid page, or if the
 * peer could shrink it.
 */
gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call);
void gr_page_unmap(struct gr_page *page, uint32_t slots); /* does nothing for NULL */

/* ---- One process's view: with the ring's lock held ------------------------------------------- */

/* The state of a slot as this process last saw it. */
struct gr_page_seen {
    uint64_t word;       /* as last read or written */
    uint64_t in;         /* the peer's value to wait for before the next use; 0: none */
    uint64_t out;        /* this process's value for the peer */
    uint64_t given_back; /* as last read: only new values are waited for */
};

struct gr_page_view {
    struct gr_page *page;
    struct gr_page_seen *seen;   /* one per slot */
    struct gr_ring_state *state; /* this process's state, which is compared with the page */
    uint32_t count;
};

/* Updates the state for that side. False: a grinterop peer never does what was found. */
bool gr_page_pull(struct gr_page_view *view, const struct gr_ring_side *side);

/*
 * Claims in the page the slots that the side claimed in the state. False: the peer was faster, and
 * nothing is claimed.
 */
bool gr_page_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

/* Call after the side's claim has been committed or undone in the state. */
void gr_page_finish_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                          bool final);

/* Hands the slots that the side handed on in the state to the peer. */
void gr_page_push(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

/* Makes frames whose read was cancelled in the state readable again. */
void gr_page_cancel_read(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

#endif
