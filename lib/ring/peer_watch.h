/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that watches the socket of a shared ring. */
#ifndef GR_LIB_RING_PEER_WATCH_H
#define GR_LIB_RING_PEER_WATCH_H

#include "lib/ring/peer_semaphores.h"

/* What is called where the peer has changed the ring, or is gone. It takes the ring's lock. */
typedef void gr_ring_changed(gr_ring *ring);

struct gr_peer_watch {
    int socket;
    int oob_inline, pass_rights; /* the socket's options before; -1: as they were */
    int quit;                    /* an eventfd that ends the thread; -1: there is none */
    bool runs;
    pthread_t thread;
    atomic_bool gone;        /* the socket has ended, or the peer does what no peer of grinterop's
                                does: nobody signals `theirs` */
    atomic_bool went_back;   /* `theirs` has a smaller value than before */
    atomic_bool descriptors; /* it has sent some */
    struct gr_peer_semaphores *semaphores; /* which are served then */

    pthread_mutex_t lock; /* for what follows; taken before the ring's */
    gr_ring *ring;        /* NULL once it has been freed */
    gr_ring_changed *changed;
};

/* Nothing is watched yet; the socket stays the caller's. */
void gr_peer_watch_init(struct gr_peer_watch *watch, int socket,
                        struct gr_peer_semaphores *semaphores, gr_ring *ring,
                        gr_ring_changed *changed);

gr_status gr_peer_watch_start(struct gr_peer_watch *watch, const char *call);

/* Sets the socket's options as they were: the ring has not become the socket's owner. */
void gr_peer_watch_give_back_socket(struct gr_peer_watch *watch);

/* Ends what there is so far. */
void gr_peer_watch_finish(struct gr_peer_watch *watch);

/* From now on nobody in this process is woken: the ring may be freed. */
void gr_peer_watch_forget_ring(struct gr_peer_watch *watch);

/* Whether that was since its semaphore has gone back to a smaller value. */
bool gr_peer_watch_saw_it_go_back(const struct gr_peer_watch *watch);

/* Whether that was since it has sent descriptors. */
bool gr_peer_watch_saw_descriptors(const struct gr_peer_watch *watch);

/* Whether the peer has died, or has closed its socket since all that it had to signal is done. */
bool gr_peer_watch_saw_end(const struct gr_peer_watch *watch);

#endif
