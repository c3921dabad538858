/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The thread that watches the socket of a shared ring. */
#ifndef GR_LIB_PEER_WATCH_H
#define GR_LIB_PEER_WATCH_H

#include "lib/peer/semaphores.h"

/* Called when the peer has changed the ring, or is gone. Takes the ring's lock. */
typedef void gr_ring_changed(gr_ring *ring);

struct gr_peer_watch {
    int socket;
    int oob_inline, pass_rights; /* the socket options before the change; -1: unchanged */
    int quit;                    /* an eventfd that ends the thread; -1: none */
    bool runs;
    pthread_t thread;
    /* the peer has ended or violated the protocol, and sends no more signals */
    atomic_bool gone;
    atomic_bool went_back;   /* `theirs` has fallen back to a smaller value */
    atomic_bool descriptors; /* the peer has sent descriptors */
    /* the semaphores whose values this process signals once the peer is gone */
    struct gr_peer_semaphores *semaphores;

    pthread_mutex_t lock; /* protects the members below; taken before the ring's lock */
    gr_ring *ring;        /* NULL once the ring is freed */
    gr_ring_changed *changed;
};

/* Initialises the struct. Does not watch yet, and the caller keeps the socket. */
void gr_peer_watch_init(struct gr_peer_watch *watch, int socket,
                        struct gr_peer_semaphores *semaphores, gr_ring *ring,
                        gr_ring_changed *changed);

gr_status gr_peer_watch_start(struct gr_peer_watch *watch, const char *call);

/* Restores the socket options if the ring did not take over the socket. */
void gr_peer_watch_restore_socket(struct gr_peer_watch *watch);

/* Frees the objects that were created so far. */
void gr_peer_watch_finish(struct gr_peer_watch *watch);

/* Stops notifying threads of this process, so that the ring may be freed. */
void gr_peer_watch_forget_ring(struct gr_peer_watch *watch);

/* Whether the peer counts as gone because its semaphore fell back to a smaller value. */
bool gr_peer_watch_saw_value_fall(const struct gr_peer_watch *watch);

/* Whether the peer counts as gone because it sent descriptors. */
bool gr_peer_watch_saw_descriptors(const struct gr_peer_watch *watch);

/* Whether the peer died, violated the protocol, or closed its socket after its last signal. */
bool gr_peer_watch_saw_end(const struct gr_peer_watch *watch);

#endif
