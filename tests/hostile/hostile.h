/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A hostile peer for test_hostile. It has the other end of a ring's socket and writes arbitrary
 * values into the objects that it received. The peer is simulated in this process, without CUDA and
 * Vulkan. test_share tests the values of message fields.
 */
#ifndef GR_TESTS_HOSTILE_H
#define GR_TESTS_HOSTILE_H

#include "tests/share/share_ring.h"

#include "lib/ring/link/page.h"

#define HOSTILE_SLOTS 3

/*
 * A semaphore of a shared ring. On the software driver its value is in memory that a peer can
 * write.
 */
struct hostile_semaphore {
    _Atomic uint64_t *value;
    CUexternalSemaphore imported; /* used if the value is not in memory */
};

/* The objects that a peer receives with a ring. */
struct hostile {
    int socket; /* -1 once the peer has closed it */
    struct gr_page *page;
    size_t page_size;
    /* The sender of the ring signals `sent`, the peer signals `received`. */
    struct hostile_semaphore sent, received;
    uint64_t frame; /* the last frame of a peer that writes */
    uint64_t value; /* the value of the semaphore that the peer signals */
};

/* Returns the peer's end of a new pair of sockets. `socket` is the end of the ring's owner. */
struct hostile hostile_pair(int *socket);

/*
 * Creates a ring whose other side is the peer. CUDA in this process writes and the peer reads, or
 * the reverse.
 */
struct shared_ring hostile_ring(struct hostile *peer, bool here_writes, gr_ring_mode mode);

/*
 * The same with OpenGL's buffers. `role` is the role of this process. Returns NULL if OpenGL cannot
 * share its buffers.
 */
gr_ring *hostile_opengl_ring(struct hostile *peer, gr_side producer, gr_ring_role role);

/* Receives the messages of the ring. */
void hostile_take(struct hostile *peer);

/*
 * Like hostile_take(). The caller also gets and owns the descriptors of the page and of both
 * semaphores.
 */
void hostile_take_files(struct hostile *peer, int fds[3]);
void hostile_end(struct hostile *peer);

/* Signals a value, which may be smaller than the current one. */
void hostile_set(const struct hostile_semaphore *semaphore, uint64_t value);

/*
 * hostile_publish() hands over slot i as the producer, hostile_give_back() as the consumer that
 * read the frame. The work on the slot is done once the semaphore has that value.
 */
void hostile_publish(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);
void hostile_give_back(struct hostile *peer, unsigned i, uint64_t frame, uint64_t value);

/*
 * Behaves like a grinterop peer: acquires one slot and hands it over. Returns false if no slot is
 * available.
 */
bool hostile_be_good(struct hostile *peer, bool here_writes);

/* Writes a byte into the socket, which wakes the other end. */
void hostile_wake(const struct hostile *peer);

/* The monotonic clock in milliseconds. */
int64_t clock_ms(void);

/* Whether the work in the stream ends within that time. */
bool stream_ends_within(CUstream stream, int ms);

/*
 * For a case that writes arbitrary semaphore values, or that blocks in OpenGL on this thread. Skips
 * the case unless the values of semaphores are in memory.
 */
#define need_memory_semaphores()                                                                   \
    do {                                                                                           \
        if (!gr_cuda_is_software())                                                                \
            skip("a GPU's semaphores are not memory, and its OpenGL has some");                    \
    } while (0)

#endif
