/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of a ring whose other side is another process's. Each process keeps a struct
 * gr_ring_state of its own; what tells the two of each other is a page of shared memory
 * (peer_page.c), a semaphore each (peer_semaphores.c) and the socket, which wakes and says when the
 * peer is gone (peer_watch.c).
 *
 * The link is NULL where a ring is not shared. The ring's calls and gr_link_end() then do nothing.
 * On systems without Unix sockets there never is one (without_peer.c).
 */
#ifndef GR_LIB_RING_PEER_LINK_H
#define GR_LIB_RING_PEER_LINK_H

#include <grinterop/share.h>

#include "lib/ring/side.h"

struct gr_link;

/* ---- Life ------------------------------------------------------------------------------------ */

struct gr_page;

/* What a new link is made of. */
struct gr_link_parts {
    int socket; /* closed when the link has ended */
    gr_ring_role role;
    struct gr_page *page; /* the link's on success */
    uint32_t count;       /* of its slots */

    /* Signalled by this process, and by the peer. The link takes holds of its own. */
    gr_semaphore *mine, *theirs;

    /* The resources' own, if they are relayed; each may be NULL, and gets a hold. */
    bool relays;
    gr_semaphore *relayed[2];

    /* The ring's: it stays as it is until gr_link_end(). */
    struct gr_ring_state *state;

    /* Which is told of what the peer does, by its thread. */
    gr_ring *ring;
    void (*changed)(gr_ring *ring);
};

/* Makes a link, and begins to watch the socket. NULL, and the error: the parts are as before. */
struct gr_link *gr_link_begin(const struct gr_link_parts *parts, const char *call);

/* Takes it back, where the ring could not be sent: the socket stays open. */
void gr_link_abandon(struct gr_link *link);

/*
 * The ring is freed. The link lives on by itself until the peer has had all that this process
 * signals.
 */
void gr_link_end(struct gr_link *link);

/* ---- The ring's calls, with its lock --------------------------------------------------------- */

/*
 * Brings the state up to date. Errors: not this process's role; the peer is gone and nobody would
 * read.
 */
gr_status gr_link_pull(struct gr_link *link, const struct gr_ring_side *side, const char *call);

/*
 * Before a wait: the peer is to wake this process. Then look once more; true: the peer will do
 * nothing any more.
 */
bool gr_link_await(struct gr_link *link);

/* Records that the peer is gone: GR_ERR_SYSTEM. There is a link. */
gr_status gr_link_fail_over(const struct gr_link *link, const char *call);

/*
 * Claims in the page what was claimed in the state. False: the peer was faster, and nothing is
 * claimed.
 */
bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* A claim has been committed in the state, or undone. */
void gr_link_conclude(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool final);

/* What was handed on in the state is the peer's now. */
void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* What was to be read was cancelled in the state. */
void gr_link_cancel_read(struct gr_link *link, const struct gr_ring_side *side, size_t n);

void gr_link_stop(struct gr_link *link);

/* ---- Without its lock: before a side's use begins, and after it has ended -------------------- */

/*
 * For a side that waits in this thread, and in no stream: whether the peer's work with the n slots
 * has ended.
 */
gr_status gr_link_has_come(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                           bool *come, const char *call);

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call);

/* After a map or a release, also one that failed: the link lives until the stream has come here. */
void gr_link_follow(struct gr_link *link, CUstream stream);

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call);

#endif
