/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings of Vulkan buffers for test_share. Each frame is filled with a value derived from its
 * number.
 */
#ifndef GR_TESTS_SHARE_RING_H
#define GR_TESTS_SHARE_RING_H

#include "share.h"

#define SLOT_SIZE 4096

/*
 * A ring in this process, with the semaphores of Vulkan and the host buffer into which Vulkan reads
 * frames.
 */
struct shared_ring {
    gr_ring *ring;
    gr_semaphore *acquire, *release;
    struct vulkan_host *host;
};
struct shared_ring shared_ring_begin(size_t slots, gr_side producer, gr_ring_mode mode);

/*
 * Like shared_ring_begin(), then sends the ring to a peer. `role` is the role of the peer; this
 * process keeps the other role.
 */
struct shared_ring shared_ring_sent(int socket, size_t slots, gr_side producer, gr_ring_mode mode,
                                    gr_ring_role role);

/* Frees the ring. Call it once all work is done. */
void shared_ring_end(struct shared_ring *r);

int value_of_frame(uint64_t frame);

/*
 * Write or read one frame with CUDA or Vulkan. The readers check the bytes and return the number of
 * the frame, or 0 after an error.
 */
gr_status cuda_writes(gr_ring *ring);
gr_status vulkan_writes(gr_ring *ring);
uint64_t cuda_reads(gr_ring *ring);
uint64_t vulkan_reads(const struct shared_ring *r);

/* The number of slots of a ring that has both sides in this process. */
#define SLOTS_OF_TWO 3

/*
 * A ring with both ends in this process. Vulkan at the sender's end reads the frames that CUDA at
 * the receiver's end writes, or the reverse.
 */
struct two {
    struct shared_ring sent;
    gr_ring *received;
};
struct shared_ring send_ring(const struct pair *pair, gr_side producer, gr_ring_mode mode);
struct two two_begin(gr_side producer, gr_ring_mode mode);
void two_end(struct two *two);

/* Vulkan acquires a frame and submits its work. The gate, unless it is NULL, blocks that work. */
void vulkan_begins_read(const struct shared_ring *r, const gr_slot **slot,
                        const struct vulkan_gate *gate);

/*
 * For jobs: peer_ring() receives the ring of the job, and the ring takes the socket.
 * peer_ring_end() frees the ring.
 */
gr_ring *peer_ring(int socket);
void peer_ring_end(gr_ring *ring);

#endif
