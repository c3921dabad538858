/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A hostile peer for test_hostile: it has the other end of a ring's socket and writes arbitrary
 * values into what it received. It is simulated in this process, without the knowledge of CUDA and
 * Vulkan. test_share tests the values of message fields.
 */
#ifndef GR_TESTS_HOSTILE_H
#define GR_TESTS_HOSTILE_H

#include "tests/share/share_ring.h"

#include "lib/ring/peer_page.h"

#define HOSTILE_SLOTS 3

/* A semaphore, whose value is in memory on the software driver. */
struct hostile_semaphore {
    _Atomic uint64_t *value;
    CUexternalSemaphore imported; /* used if it is not */
};

/* What a peer receives of a ring that was sent to it. */
struct hostile {
    int socket; /* -1 once it is closed */
    struct gr_page *page;
    size_t page_size;
    struct hostile_semaphore sent, received; /* the sender signals the first, the peer the second */
    uint64_t frame;                          /* its last frame, if it writes */
    uint64_t value;                          /* of the semaphore that it signals */
};

/* The peer's end of a new pair of sockets; the ring's owner keeps the other. */
struct hostile hostile_pair(int *socket);

/* A ring whose other side is the peer: CUDA here writes and the peer reads, or the reverse. */
struct shared_ring hostile_ring(struct hostile *peer, bool here_writes, gr_ring_mode mode);

/* Receives the ring's messages. */
void hostile_take(struct hostile *peer);

/* The same; the caller owns the descriptors of the page and both semaphores. */
void hostile_take_files(struct hostile *peer, int fds[3]);
void hostile_end(struct hostile *peer);

/* Signals a value, which may be smaller than the previous one. */
void hostile_set(const struct hostile_semaphore *semaphore, uint64_t value);

/* Hand over slot i, as producer or as the consumer that read the frame: done at that value. */
void hostile_publish(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);
void hostile_give_back(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);

/* Behaves like a grinterop peer: takes one slot and hands it over. False: no slot is available. */
bool hostile_be_good(struct hostile *peer, bool here_writes);

/* Writes a byte, which wakes the other end. */
void hostile_wake(const struct hostile *peer);

/* The monotonic clock in milliseconds. */
int64_t clock_ms(void);

/* Whether the stream's work ends within that time. */
bool stream_ends_within(CUstream stream, int ms);

/* At the start of a case that writes arbitrary values, or blocks in OpenGL's thread. */
#define need_memory_semaphores()                                                                   \
    do {                                                                                           \
        if (!gr_cuda_is_software())                                                                \
            skip("a GPU's semaphores are not memory, and its OpenGL has some");                    \
    } while (0)

#endif
