/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The link of a ring whose other side is in another process. With a link, each process keeps its
 * own struct gr_ring_state. The processes communicate by a page of shared memory (slot_words.c), by
 * one semaphore each (semaphores.c), and by the socket, which wakes the peer and reports its end
 * (watch.c). The link is NULL if a ring is not shared. The functions for calls of the ring, and
 * gr_link_end(), then do nothing. On systems without Unix sockets the link is always NULL
 * (without_sockets.c).
 */
#ifndef GR_LIB_RING_LINK_LINK_H
#define GR_LIB_RING_LINK_LINK_H

#include <grinterop/semaphore.h>
#include <grinterop/share.h>

#include "lib/cuda/context.h"
#include "lib/ring/slot_state.h"

/* ---- The life of a link ---------------------------------------------------------------------- */

struct gr_link;
struct gr_page;

/* The parts for a new link. */
struct gr_link_parts {
    gr_ring *ring; /* with all slots; must stay valid until gr_link_end() */
    int socket;    /* closed when the link ends */
    gr_ring_role role;
    struct gr_page *page; /* the link owns the page after a success */

    /*
     * The pair of the two processes. If the side of this process is CUDA, this process signals
     * `release`, otherwise `acquire`. The link takes references to the semaphores.
     */
    struct gr_semaphore_pair *pair;

    /*
     * The pair of the resources, if the link relays signals between it and `pair`, or NULL. The
     * link takes a reference.
     */
    struct gr_semaphore_pair *relayed;
};

/*
 * Creates a link and starts to watch the socket. On failure records the error, returns NULL, and
 * leaves the parts unchanged.
 */
struct gr_link *gr_link_begin(const struct gr_link_parts *parts, const char *call);

/* Undoes gr_link_begin() if the ring could not be sent. The socket stays open. */
void gr_link_abandon(struct gr_link *link);

/*
 * Ends the link of a freed ring. The link itself lives until the peer can receive all signals of
 * this process.
 */
void gr_link_end(struct gr_link *link);

/* ---- Calls of the ring, with its lock held --------------------------------------------------- */

/* Updates the state from the page. After changes that no grinterop peer makes, the state stays. */
void gr_link_refresh(struct gr_link *link);

/*
 * Calls gr_link_refresh(). Fails if this process does not have the role of the side, or if
 * the side is the producer and the peer is gone.
 */
gr_status gr_link_update(struct gr_link *link, const struct gr_ring_side *side, const char *call);

/*
 * Requests a wake-up from the peer. Call this function before a wait, and check the state again
 * afterwards. True: the peer will make no more changes.
 */
bool gr_link_await(struct gr_link *link);

/* Records GR_ERR_SYSTEM, with the reason why the peer is gone. The link must not be NULL. */
gr_status gr_link_fail_gone(const struct gr_link *link, const char *call);

/*
 * Writes a claim to the page, after it was made in the state. False: the peer took a slot first,
 * and the page has no claim.
 */
bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* Ends a claim in the page, after the claim was committed or undone in the state. */
void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final);

/*
 * Writes a hand-over or a give-back to the page, after the side made it in the state. `unread`: the
 * read was cancelled.
 */
void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread);

void gr_link_stop(struct gr_link *link);

/*
 * For a call that failed with GR_ERR_DEVICE_LOST. If the CUDA context has failed, tells the peer
 * that this process signals no more.
 */
void gr_link_after_failure(const struct gr_link *link);

/* ---- Calls without the ring's lock, around the use of slots ---------------------------------- */

/*
 * Whether the peer's work with the n slots is done. For a side that waits on this thread instead of
 * in a stream.
 */
gr_status gr_link_peer_is_done(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                               bool *come, const char *call);

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call);

/*
 * Call this function after each map or release in the stream, even a `failed` one. The link lives
 * until the stream has finished its work up to this call.
 */
void gr_link_follow(struct gr_link *link, CUstream stream, bool failed);

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call);

/* ---- Between the files of the link ----------------------------------------------------------- */

/*
 * slot_words.c: wakes the peer if it waits, or in any case if `always` is set. A full socket needs
 * no handling: its unread bytes also wake the peer.
 */
void gr_link_wake(struct gr_link *link, bool always);

/*
 * slot_words.c: gr_link_pull() updates the state from the page. False if the page contains a change
 * that no grinterop peer makes. gr_link_last_value() returns the largest value of
 * the peer's semaphore so far.
 */
bool gr_link_pull(struct gr_link *link);
uint64_t gr_link_last_value(struct gr_link *link);

/* semaphores.c: creates the streams; `out` and `in` are created for a relay only. */
gr_status gr_link_make_streams(struct gr_link *link, const char *call);

/* Frees the objects that were created so far. `alive`: whether the CUDA context still exists. */
void gr_link_end_semaphores(struct gr_link *link, bool alive);

/*
 * Signals the awaited values in the peer's place, because the peer is gone, so that no stream waits
 * forever.
 */
void gr_link_serve(struct gr_link *link);

/*
 * Checks the values; call this function periodically. False if a semaphore has fallen back to a
 * smaller value, which only the peer can cause. If the peer is gone, signals the larger value
 * again.
 */
bool gr_link_check_values(struct gr_link *link);

/*
 * Waits until all waits and signals of this process are done. After a time limit, signals in the
 * peer's place all values that the peer has not signalled yet or has decreased. Returns an event,
 * owned by the caller, that has still not passed; NULL if all is done and no stream of this process
 * waits for the two semaphores any more. The CUDA context must be current.
 */
CUevent gr_link_last_work(struct gr_link *link);

/*
 * watch.c: starts the thread that watches the socket, and ends it. gr_link_restore_socket()
 * restores the options of the socket if the ring did not take it over. After gr_link_forget_ring()
 * no thread of this process is notified, so that the ring may be freed.
 */
gr_status gr_link_start_watch(struct gr_link *link, const char *call);
void gr_link_end_watch(struct gr_link *link);
void gr_link_restore_socket(struct gr_link *link);
void gr_link_forget_ring(struct gr_link *link);

#endif
