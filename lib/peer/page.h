/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The page that two processes share for a ring, and one process's view of it. Nothing in the page
 * is trusted, and it contains no locks that a peer could leave locked.
 */
#ifndef GR_LIB_PEER_PAGE_H
#define GR_LIB_PEER_PAGE_H

#include <stdatomic.h>

#include "lib/slots/slot_state.h"

/* ---- The page -------------------------------------------------------------------------------- */

/*
 * The owner of a slot and the frame in it, in one word: frame * 4 + owner. Only the owner writes a
 * word. Other processes may only compare-and-exchange a word that is READY. So each frame is read
 * or dropped once. Frame numbers only grow. A word recurs only after a cancelled read, for the same
 * frame.
 */
enum gr_owner {
    GR_OWNER_PRODUCER = 0, /* at first, and after the consumer has read the frame */
    GR_OWNER_READY,
    GR_OWNER_CONSUMER,
    GR_OWNER_DROPPED /* the consumer dropped the frame: the producer owns the slot again */
};

struct gr_page_slot {
    _Atomic uint64_t word;

    /*
     * The value of the producer's semaphore after which the frame can be read. 0: the frame can be
     * read at once.
     */
    _Atomic uint64_t written;

    /* The value of the consumer's semaphore after the frame was read, or the read was cancelled. */
    _Atomic uint64_t given_back;
};

/*
 * The slots whose words a process has changed since its peer last checked, one bit per slot. The
 * bits are only hints: each word of a slot is checked as before.
 */
struct gr_page_changes {
    _Atomic uint64_t slots[GR_RING_MOST_SLOTS / 64];
};

struct gr_page {
    _Atomic uint64_t written; /* frames up to this number are in the slots */
    _Atomic uint32_t stopped;
    /* whether the producer and the consumer have freed their rings */
    _Atomic uint32_t ended[2];
    /* whether the producer and the consumer wait for a byte from the socket */
    _Atomic uint32_t waiting[2];
    /* the changes by the producer and by the consumer */
    struct gr_page_changes changes[2];
    struct gr_page_slot slots[];
};

/* Marks a slot as changed, after its word was written. */
static inline void gr_page_mark(struct gr_page_changes *changes, uint32_t slot)
{
    atomic_fetch_or(&changes->slots[slot / 64], UINT64_C(1) << slot % 64);
}

/*
 * Returns the descriptor of a new sealed page, which the caller owns. On failure records the error
 * and returns -1.
 */
int gr_page_create(uint32_t slots, const char *call);

/*
 * Maps a page that may come from a peer. GR_ERR_INVALID_VALUE if the page is not valid, or if the
 * peer could shrink it.
 */
gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call);
void gr_page_unmap(struct gr_page *page, uint32_t slots); /* does nothing for NULL */

/* ---- One process's view: with the ring's lock held ------------------------------------------- */

struct gr_page_view {
    struct gr_page *page;
    struct gr_ring_state *state; /* the state of this process, which is compared with the page */
    uint32_t count;
    struct gr_page_changes *mine, *theirs; /* the changes by this process and by the peer */
    uint64_t last;                         /* the largest value so far of the peer's semaphore */
    bool overwritten; /* the page had a value that the peer's semaphore cannot have */
};

/*
 * Returns a value of the peer's semaphore in the page. If the value is impossible, returns the
 * largest one so far, and the next gr_page_pull() is false.
 */
uint64_t gr_page_value(struct gr_page_view *view, const _Atomic uint64_t *value);

/*
 * Updates the state of that side from the page. False if the page contains a change that no
 * grinterop peer makes.
 */
bool gr_page_pull(struct gr_page_view *view, const struct gr_ring_side *side);

/*
 * Writes a claim to the page, after the side made it in the state. False: the peer took a slot
 * first, and the page has no claim.
 */
bool gr_page_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n);

/* Ends a claim in the page, after the claim was committed (`final`) or undone in the state. */
void gr_page_finish_claim(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                          bool final);

/*
 * Writes the end of a use to the page, after the side made it in the state: the slots get that
 * owner. A consumer that makes them READY has cancelled its read.
 */
void gr_page_push(struct gr_page_view *view, const struct gr_ring_side *side, size_t n,
                  enum gr_owner owner);

#endif
