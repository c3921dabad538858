/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile peer for test_hostile: it has the other end of a ring's socket, and writes into what it
 * was given as it likes. It is played in this process, which CUDA's and Vulkan's calls know nothing
 * of.
 */
#ifndef GR_TESTS_HOSTILE_H
#define GR_TESTS_HOSTILE_H

#include "tests/share/share_ring.h"

#include "lib/ring/peer_page.h"

#define HOSTILE_SLOTS 3

/* A semaphore, whose value is memory on the software driver. */
struct hostile_semaphore {
    _Atomic uint64_t *value;
    CUexternalSemaphore imported; /* elsewhere */
};

/* What a peer gets of a ring that was sent to it. */
struct hostile {
    int socket; /* -1 once it is closed */
    struct gr_page *page;
    size_t page_size;
    struct hostile_semaphore sent, received; /* which the sender signals, and the peer */
    uint64_t frame;                          /* its last, where it writes */
    uint64_t value;                          /* of the semaphore that it signals */
};

/* The other end of a new pair, which the ring's owner keeps. */
struct hostile hostile_pair(int *socket);

/* A ring whose other side is the peer's: CUDA here writes, and the peer reads, or the other way. */
struct shared_ring hostile_ring(struct hostile *peer, bool here_writes, gr_ring_mode mode);

/* Takes the ring's messages. */
void hostile_take(struct hostile *peer);

/* Likewise; the descriptors of the page and both semaphores are the caller's. */
void hostile_take_files(struct hostile *peer, int fds[3]);
void hostile_end(struct hostile *peer);

/* Signals a value, which may be smaller than the one before. */
void hostile_set(const struct hostile_semaphore *semaphore, uint64_t value);

/* It hands slot i on, as the producer, or the consumer that has read the frame: after that value.
 */
void hostile_publish(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);
void hostile_give_back(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);

/* What a peer of grinterop's does: it takes one slot and hands it on. False: it has none. */
bool hostile_be_good(struct hostile *peer, bool here_writes);

/* Writes a byte, so that the other end looks. */
void hostile_wake(const struct hostile *peer);

/* Milliseconds of the monotonic clock. */
int64_t clock_ms(void);

/* Whether the stream's work ends in that time. */
bool stream_ends_within(CUstream stream, int ms);

/* At the start of a case that writes any value, or waits in OpenGL's thread. */
#define need_memory_semaphores()                                                                   \
    do {                                                                                           \
        if (!gr_cuda_is_software())                                                                \
            skip("a GPU's semaphores are no memory, and its OpenGL has some");                     \
    } while (0)

#endif
