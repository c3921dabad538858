/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The link of a ring whose other side is in another process. Each process keeps its own struct
 * gr_ring_state. The processes communicate by a page of shared memory (slot_words.c), by one
 * semaphore each (semaphores.c), and by the socket, which wakes the peer and reports its end
 * (watch.c).
 */
#ifndef GR_LIB_RING_LINK_LINK_H
#define GR_LIB_RING_LINK_LINK_H

#include <grinterop/share.h>

#include "lib/base/lock.h"
#include "lib/cuda/end_after_event.h"
#include "lib/ring/link/operations.h"
#include "lib/ring/link/page.h"
#include "lib/ring/link/probe.h"

/* ---- The life of a link ---------------------------------------------------------------------- */

/* The operations of a ring with a link. */
extern const struct gr_link_operations gr_link_shared;

/*
 * Creates the link of a ring with all slots, and starts to watch the socket. `pair` is the pair of
 * the two processes: if the side of this process is CUDA, this process signals `release`, otherwise
 * `acquire`. `relayed` is the pair of the resources if the link relays signals between it and
 * `pair`, or NULL. The link takes references to both, owns the page, and closes the socket when it
 * ends. On failure records the error, returns NULL, and changes nothing.
 */
struct gr_link *gr_link_begin(gr_ring *ring, gr_ring_role role, int socket, struct gr_page *page,
                              const struct gr_semaphore_pair *pair,
                              struct gr_semaphore_pair *relayed);

/* Undoes gr_link_begin() if the ring could not be sent. The socket stays open. */
void gr_link_abandon(struct gr_link *link);

/* ---- The struct ------------------------------------------------------------------------------ */

/* Why the peer makes no more changes, from the least to the most important reason. */
enum gr_gone {
    GR_GONE_NOT = 0,
    GR_GONE_SOCKET,      /* it died, or closed its socket after its last signal */
    GR_GONE_DESCRIPTORS, /* it sent descriptors */
    GR_GONE_RING,        /* it has freed its ring: `ended` of the page */
    GR_GONE_VALUE,       /* its semaphore fell back to a smaller value */
    GR_GONE_PAGE         /* the page contains values that no grinterop peer writes */
};

/*
 * One of the two semaphores, and its values as far as this process knows them. Protected by
 * `values_lock` of the link.
 */
struct gr_gauge {
    gr_semaphore *semaphore; /* a reference */
    uint64_t awaited;        /* the largest value that any work of this process may wait for */
    uint64_t served;         /* the largest value that this process signalled in the peer's place */
    uint64_t reached;        /* the largest value seen: the semaphore must never fall below it */
    bool serving;            /* this process signals in the peer's place, or signals again */
    struct gr_peer_probe coming, again; /* the queries of `awaited` and of `reached` */
};

struct gr_link {
    struct gr_ending ending; /* used if the link outlives the ring */
    struct gr_context context;
    gr_ring_role role;
    atomic_uint gone; /* enum gr_gone, without GR_GONE_RING */

    /* For slot_words.c, with the ring's lock held: */
    struct gr_ring_state *state; /* the state of this process, which is compared with the page */
    struct gr_page *page;
    uint32_t count; /* the number of slots */
    uint64_t last;  /* the largest value of the peer's semaphore that the page had */

    /* For semaphores.c: */
    struct gr_gauge mine, theirs; /* signalled by this process and by the peer */
    struct gr_lock values_lock;

    /* A reference to the pair of the resources, while streams may relay its signals, or NULL. */
    struct gr_semaphore_pair *relayed;

    /*
     * Two streams that relay signals between `relayed` and the two semaphores. NULL if the
     * resources use the two semaphores directly.
     */
    CUstream out, in;

    /*
     * A stream that is idle once all streams of this process have passed their waits. The values of
     * the semaphores do not show this, because the peer may increase and then decrease them.
     */
    CUstream passed;
    CUevent mark; /* an event in another stream, which `passed` waits for */

    struct gr_peer_probe arriving; /* the query of gr_link_check_work() */

    /* For watch.c: */
    int socket;
    int peer; /* a pidfd of the other process; -1: not known */
    /* the socket options before the change; -1: unchanged */
    int oob_inline, pass_rights, pass_pidfd, pass_cred;
    int quit; /* an eventfd that ends the thread; -1: none */
    bool watches;
    pthread_t thread;
    struct gr_lock ring_lock; /* protects `ring` */
    gr_ring *ring;            /* NULL once the ring is freed */
};

/*
 * gr_link_own() returns the index of this process in the arrays of the page, gr_link_peers() the
 * index of the peer.
 */
static inline unsigned gr_link_own(const struct gr_link *link)
{
    return link->role - GR_RING_PRODUCER;
}

static inline unsigned gr_link_peers(const struct gr_link *link)
{
    return !gr_link_own(link);
}

/* ---- Between the files of the link ----------------------------------------------------------- */

/*
 * slot_words.c: wakes the peer if it waits, or in any case if `always` is set. A full socket needs
 * no handling: its unread bytes also wake the peer.
 */
void gr_link_wake(struct gr_link *link, bool always);

/*
 * gr_link_pull() updates the state from the page. False if the page contains a change that no
 * grinterop peer makes. gr_link_last_value() also reads the page, and returns `last`.
 */
bool gr_link_pull(struct gr_link *link);
uint64_t gr_link_last_value(struct gr_link *link);

/* Operations: see operations.h. */
bool gr_link_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n);
void gr_link_finish_claim(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                          bool final);
void gr_link_push(struct gr_link *link, const struct gr_ring_side *side, size_t n, bool unread);

/* semaphores.c: operations. */
gr_status gr_link_check_work(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                             bool *done);
gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n);
void gr_link_follow(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                    CUstream stream, bool failed);
gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n);

/* Creates the streams; `out` and `in` are created for a relay only. */
gr_status gr_link_make_streams(struct gr_link *link);

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
gr_status gr_link_start_watch(struct gr_link *link);
void gr_link_end_watch(struct gr_link *link);
void gr_link_restore_socket(struct gr_link *link);
void gr_link_forget_ring(struct gr_link *link);

#endif
