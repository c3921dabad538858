/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What a ring's calls do for the other half of the ring in another process. A ring in one process
 * has no link, and a table of operations that do nothing (unshared.c).
 */
#ifndef GR_LIB_RING_LINK_OPERATIONS_H
#define GR_LIB_RING_LINK_OPERATIONS_H

#include "lib/ring/slot_state.h"

struct gr_link;

enum gr_link_peer {
    GR_LINK_NO_PEER,
    GR_LINK_PEER_ALIVE,
    GR_LINK_PEER_GONE /* it will make no more changes */
};

struct gr_link_operations {
    /* ---- With the ring's lock held ---- */

    /* Updates the state from the page. After changes that no grinterop peer makes, it stays. */
    void (*refresh)(struct gr_link *link);

    /*
     * Calls refresh(). Fails if this process does not have the role of the side, or if the side is
     * the producer and the peer is gone.
     */
    gr_status (*update)(struct gr_link *link, const struct gr_ring_side *side);

    /*
     * Requests a wake-up from the peer. Call it before a wait, and if there is a peer, check the
     * state again afterwards.
     */
    enum gr_link_peer (*await)(struct gr_link *link);

    /* Records GR_ERR_SYSTEM, with the reason why the peer is gone. NULL if there is never one. */
    gr_status (*fail_gone)(const struct gr_link *link);

    /*
     * Writes a claim to the page, after it was made in the state. False: the peer took a slot
     * first, and the page has no claim.
     */
    bool (*claim)(struct gr_link *link, const struct gr_ring_side *side, size_t n);

    /* Ends a claim in the page, after the claim was committed or undone in the state. */
    void (*finish_claim)(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                         bool final);

    /*
     * Writes a hand-over or a give-back to the page, after the side made it in the state.
     * `unread`: the read was cancelled.
     */
    void (*push)(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread);

    void (*stop)(struct gr_link *link);

    /* ---- With or without the lock ---- */

    /*
     * For a call that failed with GR_ERR_DEVICE_LOST. If the CUDA context has failed, tells the
     * peer that this process signals no more.
     */
    void (*after_failure)(struct gr_link *link);

    /* ---- Without the lock, around the use of n slots ---- */

    /* Whether the peer's work is done, if neither a stream nor the graphics API can wait for it. */
    gr_status (*check_work)(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            bool *done);

    gr_status (*begin_use)(struct gr_link *link, const struct gr_ring_side *side, size_t n);

    /*
     * Call it after each map in `stream`, and after each release, with NULL for the streams of the
     * resources; also after a `failed` one. The link lives until the work so far is finished.
     */
    void (*follow)(struct gr_link *link, const struct gr_ring_side *side, size_t n, CUstream stream,
                   bool failed);

    gr_status (*end_use)(struct gr_link *link, const struct gr_ring_side *side, size_t n);

    /*
     * Ends the link of a freed ring. The link itself lives until the peer can receive all signals
     * of this process.
     */
    void (*end)(struct gr_link *link);
};

/* The operations of a ring in one process, whose link is NULL. */
extern const struct gr_link_operations gr_link_unshared;

#endif
