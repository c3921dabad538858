/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphores that order the two processes of a shared ring, and the relay to graphics' own. */
#ifndef GR_LIB_RING_PEER_SEMAPHORES_H
#define GR_LIB_RING_PEER_SEMAPHORES_H

#include "lib/ring/peer_page.h"
#include "lib/ring/peer_probe.h"
#include "lib/sync/semaphore.h"

/* What is known of one of the two; under the lock of gr_peer_semaphores. */
struct gr_peer_gauge {
    uint64_t awaited; /* the largest value that anything here may wait for */
    uint64_t served;  /* up to which this process has signalled it out of turn */
    uint64_t reached; /* a value that it has had: it never has a smaller one again */
    struct gr_peer_probe coming, again; /* for a value that is awaited, and one that was reached */
};

struct gr_peer_semaphores {
    const struct gr_context *context; /* whoever has this struct holds it */
    gr_semaphore *mine, *theirs;      /* signalled by this process, and by the peer; held */

    /* Graphics' own semaphores, held for as long as the streams may use them; each may be NULL. */
    gr_semaphore *relayed[2];

    /*
     * Streams that pass signals on between graphics' own semaphores and those two; NULL where the
     * resources' semaphores are those two.
     */
    CUstream out, in;

    /*
     * Passes once all streams of this process have passed what they were made to wait for: the
     * semaphores themselves prove nothing, since the peer may set them forward and back again.
     */
    CUstream passed;
    CUevent mark; /* recorded in a stream that `passed` then waits for */

    struct gr_peer_probe arriving; /* for the thread that waits for the peer itself */

    pthread_mutex_t lock; /* for what follows */
    struct gr_peer_gauge of_mine, of_theirs;
    bool serving;      /* `theirs` is signalled here, in the peer's stead */
    bool serving_mine; /* so is `mine`, which somebody has taken back */
};

/* Takes a hold of each semaphore. */
void gr_peer_semaphores_init(struct gr_peer_semaphores *semaphores,
                             const struct gr_context *context, gr_semaphore *mine,
                             gr_semaphore *theirs, gr_semaphore *const relayed[2]);

/* Makes the streams; `out` and `in` only to relay. */
gr_status gr_peer_semaphores_start(struct gr_peer_semaphores *semaphores, bool relays,
                                   const char *call);

/* Ends what there is so far; `alive` says whether the CUDA context still is. */
void gr_peer_semaphores_finish(struct gr_peer_semaphores *semaphores, bool alive);

/* Before the side's use of n slots begins, and after it has ended; without the ring's lock. */
gr_status gr_peer_semaphores_begin_use(struct gr_peer_semaphores *semaphores,
                                       const struct gr_page_view *view,
                                       const struct gr_ring_side *side, size_t n, const char *call);

/* After a map or a release, also one that failed: the link ends after the stream has come here. */
void gr_peer_semaphores_follow(struct gr_peer_semaphores *semaphores, CUstream stream);

gr_status gr_peer_semaphores_end_use(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view,
                                     const struct gr_ring_side *side, size_t n, const char *call);

/*
 * For a side that waits in this thread, and in no stream: whether the peer's work with the n slots
 * has ended. The answer is there at once.
 */
gr_status gr_peer_semaphores_have_come(struct gr_peer_semaphores *semaphores,
                                       const struct gr_page_view *view,
                                       const struct gr_ring_side *side, size_t n, bool *come,
                                       const char *call);

/* The peer is gone: what is waited for is signalled here, so that no stream waits for ever. */
void gr_peer_semaphores_serve(struct gr_peer_semaphores *semaphores);

/*
 * To be called now and then. False: one of the semaphores has gone back to a smaller value, which
 * only the peer can have done. Where the peer is gone, what somebody has taken back since is
 * signalled again.
 */
bool gr_peer_semaphores_look(struct gr_peer_semaphores *semaphores);

/*
 * Waits until all that this process waits for and signals is done, but not for ever: after the
 * peer's time is over, what it owes or has taken back is signalled in its place. Gives an event,
 * the caller's, that has still not passed; NULL if all is done, and no stream of this process waits
 * for the two semaphores any more. The CUDA context is current.
 */
CUevent gr_peer_semaphores_last_work(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view);

#endif
