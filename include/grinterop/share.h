/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources and rings handed to another process over a Unix socket: the memory's and semaphores' file descriptors
 * go along (SCM_RIGHTS) with a message that describes them. The receiver needs no graphics API: what it gets is
 * a resource of external memory.
 *
 * The message has a version, and everything in it is checked on arrival: sizes, types, numbers, descriptors.
 * A peer may be hostile or die at any moment: the calls return errors then, in bounded time; nothing hangs.
 */
#ifndef GR_SHARE_H
#define GR_SHARE_H

#include <grinterop/gr.h>
#include <grinterop/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sends a resource: its memory, its two semaphores and its description. `socket` is a connected Unix stream
 * socket. The resource stays the caller's; who uses it when is between the two processes. (A ring of one slot
 * takes care of that.) The receiver's semaphores are acquire and release as the sender's: its gr_submit_begin()
 * stands for the sender's, with the same values, and its n-th release signals the n-th value after the one sent.
 * A resource without semaphores is sent without; the two processes wait then.
 * Resources of Vulkan (gr_from_vk_*, gr_vk_*_create) and of the shared transport (gr_gl_*_create) can be sent.
 * `timeout_ms` bounds the whole call, ~0u: for ever.
 * Errors: GR_ERR_UNSUPPORTED (a resource of another transport; the message says how to make one that can be; a
 * semaphore that works through waits of the host), GR_ERR_STATE (mapped, closed, in a ring), GR_ERR_TIMEOUT,
 * GR_ERR_SYSTEM (the socket: the peer is gone).
 */
GR_API gr_status gr_resource_send(int socket, gr_resource *resource, unsigned timeout_ms);

/*
 * Receives one, imported into the current CUDA context, else the primary context of the device with the
 * sender's UUID. NULL on error: GR_ERR_INVALID_VALUE (not a message of grinterop's, another version, a
 * description that contradicts itself or the memory's real size), GR_ERR_UNSUPPORTED (no CUDA device has the
 * sender's UUID), GR_ERR_TIMEOUT, GR_ERR_SYSTEM, GR_ERR_CUDA. No descriptor stays open after an error.
 */
GR_API gr_resource *gr_resource_receive(int socket, unsigned timeout_ms);

/* Which side of a ring a process is. */
typedef enum gr_ring_role { GR_RING_PRODUCER = 0, GR_RING_CONSUMER } gr_ring_role;

/*
 * Sends a ring: all its resources, its semaphores, and a shared page in which both processes keep who has which
 * slot. The sender goes on as what `role` says, the receiver as the other, through CUDA; from then on each calls
 * the ring's functions of its own role only. The socket has to stay open, and belongs to the ring: its end tells
 * of the peer's death, after which acquires return GR_ERR_SYSTEM (what was published can still be read).
 * gr_ring_free() closes it; after an error of these two calls it is still the caller's. A thread of the ring's own
 * watches it. When the peer has died, what a stream or a graphics API here waits for is signalled in its stead, a
 * moment later: no wait lasts for ever, but the frame that the peer was at may be incomplete.
 * A peer that lives and does nothing holds up who waits for its frame's work, as a GPU's endless kernel would, but not
 * gr_ring_free(), which after 2 seconds signals in its stead.
 * Nothing may be in flight when a ring is sent (GR_ERR_STATE); the call waits for work that is still under way.
 * Resizing is not possible afterwards. The receiver's options are the sender's.
 * Semaphores that can be exported and that only the ring's slots have are used by both processes; for all others
 * grinterop passes the signals on, on two streams of its own.
 * Errors: as above.
 */
GR_API gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, unsigned timeout_ms);
GR_API gr_ring *gr_ring_receive(int socket, unsigned timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
