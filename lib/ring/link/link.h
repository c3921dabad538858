/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The link of a ring whose other side is in another process. Each process keeps its own struct
 * gr_ring_state. The processes communicate by a page of shared memory (slot_words.c), by one
 * semaphore each (semaphores.c), and by the socket, which wakes the peer and reports its end
 * (watch.c).
 */
#ifndef GR_LIB_RING_LINK_LINK_H
#define GR_LIB_RING_LINK_LINK_H

#include <grinterop/semaphore.h>
#include <grinterop/share.h>

#include "lib/cuda/context.h"
#include "lib/ring/link/operations.h"

/* ---- The life of a link ---------------------------------------------------------------------- */

struct gr_page;

/* The operations of a ring with a link. */
extern const struct gr_link_operations gr_link_shared;

/* The parts for a new link. */
struct gr_link_parts {
    gr_ring *ring; /* with all slots; must stay valid until the link ends */
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

/* slot_words.c: the operations. */
bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n);
void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final);
void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread);

/* semaphores.c: the operations. */
gr_status gr_link_check_work(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                             bool *done, const char *call);
gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                            const char *call);
void gr_link_follow(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                    CUstream stream, bool failed);
gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          const char *call);

/* Creates the streams; `out` and `in` are created for a relay only. */
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
