/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources and rings handed to another process over a Unix socket. The receiver needs no graphics
 * API: what it gets is a resource of external memory.
 *
 *     In the process that draws:
 *     gr_ring *ring = gr_ring_create(resources, n, NULL);
 *     gr_ring_send(socket, ring, GR_RING_CONSUMER, NULL, 0, 1000);
 *
 *     In the process that computes:
 *     gr_ring *ring = gr_ring_receive(socket, NULL, 0, NULL, 1000);
 *     const gr_slot *slot;
 *     while (gr_ring_acquire_write(ring, stream, &slot, 1, GR_WAIT_FOREVER) == GR_OK) {
 *         ... kernels on `stream` write to gr_buffer_ptr(slot->buffer) ...
 *         gr_ring_publish(ring, &slot, 1);
 *     }
 *
 * A message has file descriptors of the memory and the semaphores (SCM_RIGHTS), and a description.
 * Bytes of yours may go along: the size of a mesh, say, or the name of a frame.
 *
 * Everything in a message is checked on arrival. A peer may be hostile, or die at any moment: the
 * calls return errors then, in bounded time, and nothing hangs. Both processes have to use the same
 * version of messages, so in practice the same grinterop.
 */
#ifndef GR_SHARE_H
#define GR_SHARE_H

#include <grinterop/gr.h>
#include <grinterop/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes of yours go along with a message at the most. */
#define GR_SHARE_MOST_DATA 65536

/* ---- Resources ------------------------------------------------------------------------------- */

/*
 * Sends a resource to another process, with `size` bytes of yours.
 *
 * Who uses it when is between the two processes; a ring of one slot takes care of that. A resource
 * that was given semaphores by gr_resource_set_sync() is sent with them. The receiver's submits
 * then stand for the sender's, with the same values, and its n-th release signals the n-th value
 * after the one sent. Other resources are sent without: then the receiver decides on the order.
 *
 * Owner    the resource stays the caller's; the other process has memory of the same bytes
 * Data     NULL, with size 0: nothing goes along
 * Waits    up to timeout_ms milliseconds for room in the socket; GR_WAIT_FOREVER: until there is
 * Needs    a connected Unix stream socket; a resource of Vulkan's (gr_from_vk_*, gr_vk_*_create),
 *          or of OpenGL's shared transport (gr_gl_*_create)
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `socket` is none; `size` is more than GR_SHARE_MOST_DATA
 *     GR_ERR_UNSUPPORTED    the resource's memory or semaphores cannot be sent; the message says
 *                           how to make one that can
 *     GR_ERR_STATE          the resource is mapped, closed, or in a ring
 *     GR_ERR_NOT_READY      there is no room, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        there was no room in time; close the socket if the message says so
 *     GR_ERR_SYSTEM         the other process is gone
 */
GR_API gr_status gr_resource_send(int socket, gr_resource *resource, const void *data, size_t size,
                                  unsigned timeout_ms);

/*
 * Receives a resource, and the sender's bytes into `data`, where there is room for `room`.
 *
 *     struct mesh mesh;
 *     size_t size;
 *     gr_resource *r = gr_resource_receive(socket, &mesh, sizeof(mesh), &size, 1000);
 *
 * It is imported into the current CUDA context if that is of the device that has the memory. For a
 * buffer of grinterop's own the context may be of any device with peer access to that one
 * (cuDeviceCanAccessPeer). Else it is imported into that device's primary context.
 *
 * Owner    the caller, who frees it with gr_resource_free()
 * Data     *size is how many bytes came. `size` may be NULL, and so may `data` if `room` is 0
 * Waits    up to timeout_ms milliseconds for the message; GR_WAIT_FOREVER: until it is there
 *
 * Errors, after which NULL is returned and no descriptor stays open:
 *     GR_ERR_INVALID_VALUE  there is less room than bytes: *size is how many there are, and the
 *                           message can be received again; it is not one of grinterop's, of another
 *                           version, or contradicts itself
 *     GR_ERR_UNSUPPORTED    no CUDA device here is the sender's
 *     GR_ERR_NOT_READY      it is not there, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        it was not there in time
 *     GR_ERR_SYSTEM         the other process is gone
 *     GR_ERR_CUDA           CUDA refused to import it
 */
GR_API gr_resource *gr_resource_receive(int socket, void *data, size_t room, size_t *size,
                                        unsigned timeout_ms);

/* ---- Rings ----------------------------------------------------------------------------------- */

/*
 * Sends a ring to another process, which takes one of its roles, with `size` bytes of yours.
 *
 * This process goes on as what `role` says. The other one has the other role, through CUDA. From
 * then on each calls the ring's functions of its own role only. Each waits as long as it says.
 *
 * When the other process dies, acquires return GR_ERR_SYSTEM; what was published can still be read.
 * What a stream or a graphics API here waits for is signalled in the peer's stead, a moment later:
 * no wait lasts for ever, but the frame that the peer was at may be incomplete. A peer that lives
 * and does nothing holds up who waits for its frame, as an endless kernel would. gr_ring_free()
 * waits for it for 2 seconds at the most.
 *
 * Owner    the ring stays the caller's; the socket is the ring's from now on, which closes it at
 *          the end, unless the call fails
 * Data     as for gr_resource_send()
 * Thread   as gr_ring_create(). While it runs, acquires of other threads find no slots, and wait as
 *          long as they are told
 * Waits    up to timeout_ms milliseconds for work with the slots to end, and for the socket
 * Needs    resources as gr_resource_send(); no frame in flight. The ring cannot be resized after it
 *
 * Semaphores that only the ring's slots have, and that can be exported, are used by both processes.
 * For others grinterop passes the signals on, on two streams of its own.
 *
 * Errors: as for gr_resource_send(), and
 *     GR_ERR_INVALID_VALUE  `role` is none
 *     GR_ERR_STATE          frames are in flight; the ring is shared already, or being sent
 */
GR_API gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data,
                              size_t size, unsigned timeout_ms);

/*
 * Receives a ring, and the sender's bytes into `data`, where there is room for `room`.
 *
 * The ring has the sender's mode. Its role is the one that the sender has not.
 *
 * Owner    the caller, who frees it with gr_ring_free(); the socket is the ring's, as for
 *          gr_ring_send()
 *
 * Data, waiting and errors are as for gr_resource_receive().
 */
GR_API gr_ring *gr_ring_receive(int socket, void *data, size_t room, size_t *size,
                                unsigned timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
