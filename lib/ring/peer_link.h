/* SPDX-License-Identifier: Apache-2.0 */
/* The link of a shared ring, as the files that make it see it: see link.h. */
#ifndef GR_LIB_RING_PEER_LINK_H
#define GR_LIB_RING_PEER_LINK_H

#include <pthread.h>
#include <stdatomic.h>

#include <grinterop/share.h>

#include "lib/ring/link.h"
#include "lib/retire.h"
#include "lib/ring/ring.h"
#include "lib/sync/semaphore.h"

/* The descriptors of a ring's message: the page, and the sender's and the receiver's semaphore. */
enum { GR_RING_PAGE_FD, GR_RING_SENT_FD, GR_RING_RECEIVED_FD, GR_RING_FD_COUNT };

/* ---- The page (peer_page.c) ------------------------------------------------------------------ */

/*
 * Who has a slot, and the frame in it, in one word: frame * 4 + owner. A word is changed by its
 * owner, or by a compare-and-exchange out of READY, so that each frame is read or dropped once.
 * Frames only grow: no word comes twice.
 */
enum gr_owner {
    GR_OWNER_PRODUCER = 0, /* at first, and when the consumer has read it */
    GR_OWNER_READY,
    GR_OWNER_CONSUMER,
    GR_OWNER_DROPPED /* by the consumer, and so the producer's */
};

struct gr_page_slot {
    _Atomic uint64_t word;
    _Atomic uint64_t
        written; /* the producer's semaphore's value after which it can be read; 0: at once */
    _Atomic uint64_t given_back; /* the consumer's, after which it can be written */
};

struct gr_page {
    _Atomic uint64_t published; /* frames up to here are in the slots */
    _Atomic uint32_t stopped;
    _Atomic uint32_t ended[2];   /* a role has freed its ring; by enum gr_ring_role */
    _Atomic uint32_t waiting[2]; /* a role waits for the socket */
    struct gr_page_slot slots[];
};

size_t gr_page_size(uint32_t slots);

/* A new page's descriptor, the caller's, sealed; -1 and the error. */
int gr_page_create(uint32_t slots, const char *call);

/*
 * Maps one that may come from a peer: GR_ERR_INVALID_VALUE if it is none, or could be taken away.
 */
gr_status gr_page_map(int fd, uint32_t slots, struct gr_page **page, const char *call);

/* ---- The link -------------------------------------------------------------------------------- */

/* What this process knows of a slot. */
struct gr_link_slot {
    uint64_t word; /* as it was last seen or written */
    uint64_t in;   /* the peer's value to wait for before the next use; 0: none */
    uint64_t out;  /* this process's value for the peer */
};

struct gr_share_link {
    struct gr_link base;
    struct gr_retired retired; /* with `context`, once it is set aside */
    struct gr_context context;
    int socket;
    gr_ring_role role;
    uint32_t count;
    struct gr_page *page;
    struct gr_link_slot *slots;
    gr_semaphore *mine, *theirs; /* signalled by this process, and by the peer; held */
    /*
     * Streams that pass signals on between graphics' own semaphores and those two; NULL where the
     * resources' semaphores are those two.
     */
    CUstream out, in;
    gr_semaphore
        *relayed[2]; /* graphics' own semaphores, held for as long as the streams may use them */

    int quit; /* an eventfd that ends the watcher */
    pthread_t watcher;
    atomic_bool gone;     /* the socket has ended, so nobody signals `theirs` any more */
    atomic_bool spoiled;  /* the page holds what no peer of grinterop's writes */
    pthread_mutex_t lock; /* for what follows; taken before the ring's */
    gr_ring *ring;        /* NULL once it has been freed */
    uint64_t awaited;     /* the largest value of `theirs` that anything here waits for */
    uint64_t served; /* up to which this process has signalled `theirs` in the dead peer's stead */
    bool serving;
};

static inline struct gr_share_link *gr_link_of(const gr_ring *ring)
{
    return (struct gr_share_link *)ring->link;
}

/* What a new link is made of: all but the socket become its own on success. */
struct gr_link_parts {
    int socket;
    gr_ring_role role;
    uint32_t count;
    struct gr_page *page;
    gr_semaphore *mine, *theirs;
    bool relays;
    gr_semaphore
        *relayed[2]; /* the resources' own, if it relays; each may be NULL, and gets a hold */
};

/* Makes the ring's link and begins to watch the socket, which is closed when the link ends. */
gr_status gr_link_begin(gr_ring *ring, const struct gr_link_parts *parts, const char *call);

/* Takes it back, where the ring could not be sent; the parts but the socket are ended. */
void gr_link_abandon(gr_ring *ring);

/* Whether the peer will do nothing more. */
bool gr_link_is_over(const struct gr_share_link *link);
gr_status gr_link_fail_over(const gr_ring *ring, const char *call);

/* Wakes the peer if it waits, or in any case. */
void gr_link_wake(struct gr_share_link *link, bool always);

/* ---- In the page (peer_page.c), with the ring's lock ----------------------------------------- */

gr_status gr_link_pull(gr_ring *ring, const struct gr_ring_side *side, const char *call);
bool gr_link_claim(gr_ring *ring, const struct gr_ring_side *side, size_t n);
void gr_link_conclude(gr_ring *ring, const struct gr_ring_side *side, size_t n, bool final);
void gr_link_push(gr_ring *ring, const struct gr_ring_side *side, size_t n);

/* ---- Semaphores (peer_semaphores.c) ---------------------------------------------------------- */

gr_status gr_link_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            const char *call);
gr_status gr_link_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                          const char *call);

/* The peer is gone: what is waited for is signalled here, so that no stream waits for ever. */
void gr_link_serve(struct gr_share_link *link);

/*
 * Whether an event passes within a moment, as one does that was just recorded where there is
 * nothing left to do.
 */
bool gr_link_has_passed(CUevent event);

/*
 * An event, the caller's, after all that this process waits for and signals; NULL if there is
 * nothing.
 */
gr_status gr_link_last_work(struct gr_share_link *link, CUevent *event);

#endif
