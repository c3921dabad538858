/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The link of a ring whose other side is in another process. Each process keeps its own struct
 * gr_ring_state. The processes communicate by a page of shared memory (peer_page.c), by one
 * semaphore each (peer_semaphores.c), and by the socket, which wakes the peer and reports its end
 * (peer_watch.c).
 *
 * The link is NULL if a ring is not shared. The ring's calls and gr_link_end() then do nothing. On
 * systems without Unix sockets it is always NULL (without_peer.c).
 */
#ifndef GR_LIB_RING_PEER_LINK_H
#define GR_LIB_RING_PEER_LINK_H

#include <grinterop/share.h>

#include "lib/ring/side.h"

struct gr_link;

/* ---- Life ------------------------------------------------------------------------------------ */

struct gr_page;

/* The parts of a new link. */
struct gr_link_parts {
    int socket; /* closed when the link ends */
    gr_ring_role role;
    struct gr_page *page; /* owned by the link on success */
    uint32_t count;       /* number of slots */

    /* Signalled by this process, and by the peer. The link takes its own references. */
    gr_semaphore *mine, *theirs;

    /* The resources' semaphores if relayed. Each may be NULL; the link takes references. */
    bool relays;
    gr_semaphore *relayed[2];

    /* The ring's state: must stay valid until gr_link_end(). */
    struct gr_ring_state *state;

    /* Notified when the peer changes the ring, on the link's thread. */
    gr_ring *ring;
    void (*changed)(gr_ring *ring);
};

/* Creates a link and starts to watch the socket. NULL and the error: the parts are unchanged. */
struct gr_link *gr_link_begin(const struct gr_link_parts *parts, const char *call);

/* Undoes gr_link_begin() if the ring could not be sent: the socket stays open. */
void gr_link_abandon(struct gr_link *link);

/* For a freed ring. The link lives on until the peer can receive all signals of this process. */
void gr_link_end(struct gr_link *link);

/* ---- Calls of the ring, with its lock held --------------------------------------------------- */

/*
 * Updates the state from the page. Fails if this process does not have that role, or if the
 * producer's peer is gone.
 */
gr_status gr_link_update(struct gr_link *link, const struct gr_ring_side *side, const char *call);

/*
 * Call before a wait: requests a wake-up from the peer. Check again afterwards. True: the peer will
 * do nothing more.
 */
bool gr_link_await(struct gr_link *link);

/* Records why the peer is gone: GR_ERR_SYSTEM. The link must not be NULL. */
gr_status gr_link_fail_gone(const struct gr_link *link, const char *call);

/*
 * Claims in the page the slots that were claimed in the state. False: the peer was faster, and
 * nothing is claimed.
 */
bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* Call after a claim has been committed or undone in the state. */
void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final);

/* Hands the slots that were handed on in the state to the peer. */
void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* Call after a read has been cancelled in the state. */
void gr_link_cancel_read(struct gr_link *link, const struct gr_ring_side *side, size_t n);

void gr_link_stop(struct gr_link *link);

/* ---- Calls without the ring's lock, around the use of slots ---------------------------------- */

/*
 * Whether the peer's work with the n slots has ended. For a side that waits in this thread instead
 * of in a stream.
 */
gr_status gr_link_peer_is_done(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                               bool *come, const char *call);

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call);

/* Call after each map or release, even a failed one: the link lives until the stream gets here. */
void gr_link_follow(struct gr_link *link, CUstream stream);

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call);

#endif
