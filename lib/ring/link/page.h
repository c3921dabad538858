/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The page that two processes share for a ring. Nothing in the page is trusted, and it contains no
 * locks that a peer could leave locked.
 */
#ifndef GR_LIB_RING_LINK_PAGE_H
#define GR_LIB_RING_LINK_PAGE_H

#include <stdatomic.h>

#include "lib/ring/slot_state.h"

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
    /* how many frames were read before the ring was sent, modulo 2^32; 0 from version 0.2.0 */
    _Atomic uint32_t read;
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
 * When the newest frame was handed over, which a process writes into the last word of its changes:
 * 0 from version 0.2.0. A ring with so many slots that it needs this word for their bits has none.
 */
#define GR_PAGE_LAST_WORD (GR_RING_MOST_SLOTS / 64 - 1)

static inline uint64_t gr_page_newest_at(struct gr_page *page, gr_ring_role role, uint32_t slots)
{
    return slots <= GR_PAGE_LAST_WORD * 64
               ? atomic_load(&page->changes[role - GR_RING_PRODUCER].slots[GR_PAGE_LAST_WORD])
               : 0;
}

static inline void gr_page_set_newest_at(struct gr_page *page, gr_ring_role role, uint32_t slots,
                                         uint64_t time)
{
    if (slots <= GR_PAGE_LAST_WORD * 64)
        atomic_store(&page->changes[role - GR_RING_PRODUCER].slots[GR_PAGE_LAST_WORD], time);
}

/*
 * Returns the descriptor of a new sealed page, which the caller owns. On failure records the error
 * and returns -1.
 */
int gr_page_create(uint32_t slots);

/*
 * Maps a page that may come from a peer. GR_ERR_INVALID_VALUE if the page is not valid, or if the
 * peer could shrink it.
 */
gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page);
void gr_page_unmap(struct gr_page *page, uint32_t slots); /* does nothing for NULL */

#endif
