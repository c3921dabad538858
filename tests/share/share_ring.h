/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Rings of Vulkan buffers for test_share, whose frames are filled with a value derived from their
 * number.
 */
#ifndef GR_TESTS_SHARE_RING_H
#define GR_TESTS_SHARE_RING_H

#include "share.h"

#define SLOT_SIZE 4096

/* A ring in this process, with Vulkan's semaphores and the buffer that Vulkan reads into. */
struct shared_ring {
    gr_ring *ring;
    gr_semaphore *acquire, *release;
    struct vulkan_host *host;
};
struct shared_ring shared_ring_begin(size_t slots, gr_side producer, gr_ring_mode mode);

/* Such a ring, after it was sent to a peer; this process has the other role. */
struct shared_ring shared_ring_sent(int socket, size_t slots, gr_side producer, gr_ring_mode mode,
                                    gr_ring_role role);

/* Call it once all work is done. */
void shared_ring_end(struct shared_ring *r);

int value_of_frame(uint64_t frame);

/*
 * A frame by each API, on its side. Readers check the bytes and return the frame's number, or 0
 * after an error.
 */
gr_status cuda_writes(gr_ring *ring);
gr_status vulkan_writes(gr_ring *ring);
uint64_t cuda_reads(gr_ring *ring);
uint64_t vulkan_reads(const struct shared_ring *r);

/* The number of slots of a ring that has both sides in this process. */
#define SLOTS_OF_TWO 3

/* The sender's Vulkan reads what the receiver's CUDA writes, or the reverse. */
struct two {
    struct shared_ring sent;
    gr_ring *received;
};
struct shared_ring send_ring(const struct pair *pair, gr_side producer, gr_ring_mode mode);
struct two two_begin(gr_side producer, gr_ring_mode mode);
void two_end(struct two *two);

/* A Vulkan frame, whose work the gate, if any, blocks. */
void vulkan_begins_read(const struct shared_ring *r, const gr_slot **slot,
                        const struct vulkan_gate *gate);

/* In a job: receives its ring, which takes the socket; and frees the ring. */
gr_ring *peer_ring(int socket);
void peer_ring_end(gr_ring *ring);

#endif
