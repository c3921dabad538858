/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The struct of a link, whose functions peer.h declares. */
#ifndef GR_LIB_RING_LINK_LINK_TYPES_H
#define GR_LIB_RING_LINK_LINK_TYPES_H

#include "lib/cuda/end_after_event.h"
#include "lib/ring/link/page.h"
#include "lib/ring/link/link.h"
#include "lib/ring/link/probe.h"

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
    uint64_t last;  /* the largest value so far of the peer's semaphore in the page */

    /* For semaphores.c: */
    struct gr_gauge mine, theirs; /* signalled by this process and by the peer */
    pthread_mutex_t values_lock;

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
    int oob_inline, pass_rights; /* the socket options before the change; -1: unchanged */
    int quit;                    /* an eventfd that ends the thread; -1: none */
    bool watches;
    pthread_t thread;
    pthread_mutex_t ring_lock; /* protects `ring`; taken before the ring's lock */
    gr_ring *ring;             /* NULL once the ring is freed */
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

#endif
