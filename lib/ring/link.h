/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring whose other side is another process's. Each process keeps a struct gr_ring_state of its
 * own; what tells the two of each other is a page of shared memory (peer_page.c), a semaphore each
 * (peer_semaphores.c) and the socket, which wakes and says when the peer is gone (peer_link.c).
 * Nothing in the page is trusted, and nothing in it can be left locked.
 *
 * The ring calls the operations where it has a link. On systems without Unix sockets there never is
 * one.
 */
#ifndef GR_LIB_RING_LINK_H
#define GR_LIB_RING_LINK_H

#include "lib/ring/side.h"

struct gr_link_ops {
    /*
     * Brings the state up to date. Errors: not this process's role; the peer is gone and nobody
     * would read.
     */
    gr_status (*pull)(gr_ring *ring, const struct gr_ring_side *side, const char *call);
    /*
     * Before a wait: the peer is to wake this process. Then look once more; true: the peer will do
     * nothing any more.
     */
    bool (*await)(gr_ring *ring);
    /* Records that the peer is gone: GR_ERR_SYSTEM. */
    gr_status (*fail_over)(const gr_ring *ring, const char *call);
    /*
     * Claims in the page what was claimed in the state. False: the peer was faster, and nothing is
     * claimed.
     */
    bool (*claim)(gr_ring *ring, const struct gr_ring_side *side, size_t n);
    /* A claim has been committed in the state, or undone. */
    void (*conclude)(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool final);
    /* What was handed on in the state is the peer's now. */
    void (*push)(gr_ring *ring, const struct gr_ring_side *side, size_t n);
    void (*stop)(gr_ring *ring);
    /*
     * Without the ring's lock: before a side's use begins, after it has ended, and when the ring is
     * freed.
     */
    gr_status (*begin_use)(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                           const char *call);
    gr_status (*end_use)(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                         const char *call);
    void (*end)(gr_ring *ring);
};

/* All but `end`, `begin_use` and `end_use` are called with the ring's lock held. */
struct gr_link {
    const struct gr_link_ops *ops;
};

#endif
