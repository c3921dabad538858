/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The semaphores of the two processes of a shared ring, and the relay between them and the
 * semaphores of the resources.
 */
#ifndef GR_LIB_PEER_SEMAPHORES_H
#define GR_LIB_PEER_SEMAPHORES_H

#include "lib/peer/page.h"
#include "lib/peer/probe.h"
#include "lib/sync/semaphore_pair.h"

/*
 * The values of one of the two semaphores, as far as this process knows them. Protected by the lock
 * of gr_peer_semaphores.
 */
struct gr_peer_gauge {
    uint64_t awaited; /* the largest value that any work of this process may wait for */
    uint64_t served;  /* the largest value that this process signalled in the peer's place */
    uint64_t reached; /* the largest value seen: the semaphore must never fall below it */
    struct gr_peer_probe coming, again; /* the queries of `awaited` and of `reached` */
};

struct gr_peer_semaphores {
    const struct gr_context *context; /* the owner of this struct keeps the context alive */
    /* references: `mine` is signalled by this process, `theirs` by the peer */
    gr_semaphore *mine, *theirs;

    /* References to the pair of the resources, while streams may relay its signals, or NULL. */
    gr_semaphore *relayed[2];

    /*
     * Two streams that relay signals between `relayed` and the two semaphores above. NULL if the
     * resources use `mine` and `theirs` directly.
     */
    CUstream out, in;

    /*
     * A stream that is idle once all streams of this process have passed their waits. The values of
     * the semaphores do not show this, because the peer may increase and then decrease them.
     */
    CUstream passed;
    CUevent mark; /* an event in another stream, which `passed` waits for */

    struct gr_peer_probe arriving; /* the query of gr_peer_semaphores_are_done() */

    pthread_mutex_t lock; /* protects the members below */
    struct gr_peer_gauge of_mine, of_theirs;
    bool serving;      /* this process signals `theirs` in the peer's place */
    bool serving_mine; /* this process also signals `mine` again, after the peer has decreased it */
};

/*
 * Initialises the struct, and takes references to the semaphores; `relayed` may be NULL. `is_cuda`:
 * the side of this process is CUDA.
 */
void gr_peer_semaphores_init(struct gr_peer_semaphores *semaphores,
                             const struct gr_context *context, struct gr_semaphore_pair *pair,
                             bool is_cuda, struct gr_semaphore_pair *relayed);

/* Creates the streams; `out` and `in` are created for a relay only. */
gr_status gr_peer_semaphores_start(struct gr_peer_semaphores *semaphores, bool relays,
                                   const char *call);

/* Frees the objects that were created so far. `alive`: whether the CUDA context still exists. */
void gr_peer_semaphores_finish(struct gr_peer_semaphores *semaphores, bool alive);

/*
 * Call begin_use() before the side uses n slots, and end_use() afterwards. The caller does not hold
 * the ring's lock.
 */
gr_status gr_peer_semaphores_begin_use(struct gr_peer_semaphores *semaphores,
                                       const struct gr_page_view *view,
                                       const struct gr_ring_side *side, size_t n, const char *call);

/*
 * Call this function after each map or release in the stream, even a `failed` one. The link ends
 * only after the stream has finished its work up to this call. If the call failed because the
 * stream captures a graph, adds nothing to the stream.
 */
void gr_peer_semaphores_follow(struct gr_peer_semaphores *semaphores, CUstream stream, bool failed);

gr_status gr_peer_semaphores_end_use(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view,
                                     const struct gr_ring_side *side, size_t n, const char *call);

/*
 * Whether the peer's work with the n slots is done. Does not block. For a side that waits on this
 * thread instead of in a stream.
 */
gr_status gr_peer_semaphores_are_done(struct gr_peer_semaphores *semaphores,
                                      const struct gr_page_view *view,
                                      const struct gr_ring_side *side, size_t n, bool *come,
                                      const char *call);

/*
 * Signals the awaited values in the peer's place, because the peer is gone, so that no stream waits
 * forever.
 */
void gr_peer_semaphores_signal(struct gr_peer_semaphores *semaphores);

/*
 * Checks the values; call this function periodically. False if a semaphore has fallen back to a
 * smaller value, which only the peer can cause. If the peer is gone, signals the larger value
 * again.
 */
bool gr_peer_semaphores_check(struct gr_peer_semaphores *semaphores);

/*
 * Waits until all waits and signals of this process are done. After a time limit, signals in the
 * peer's place all values that the peer has not signalled yet or has decreased. Returns an event,
 * owned by the caller, that has still not passed; NULL if all is done and no stream of this process
 * waits for the two semaphores any more. The CUDA context must be current.
 */
CUevent gr_peer_semaphores_last_work(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view);

#endif
