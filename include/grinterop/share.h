/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sends resources and rings to another process over a Unix socket. The receiver needs no graphics
 * API: it gets resources in external memory.
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
 *         gr_ring_hand_over(ring, &slot, 1);
 *     }
 *
 * A message contains file descriptors of memory and semaphores (SCM_RIGHTS), a description, and
 * optionally data of your own, such as the size of a mesh.
 *
 * The receiver checks every message. If the peer is hostile or dies, calls return errors in bounded
 * time (SECURITY.md). Both processes need the same message version: in practice, use the same
 * grinterop version.
 *
 * Windows has no sockets that send descriptors: there all functions fail with GR_ERR_UNSUPPORTED.
 */
#ifndef GR_SHARE_H
#define GR_SHARE_H

#include <grinterop/gr.h>
#include <grinterop/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The maximum size of your own data in a message, in bytes. */
#define GR_SHARE_MOST_DATA 65536

/* ---- Resources ------------------------------------------------------------------------------- */

/*
 * Sends a resource to another process, with `size` bytes of your own data.
 *
 * The processes must agree which of them uses the resource at any time; a ring of one slot ensures
 * this. Semaphores set by gr_resource_set_sync() are sent with the resource. The receiver's submits
 * then continue the sender's values, and the receiver's n-th release signals the n-th value after
 * the value that was sent. A resource without such semaphores is sent without semaphores, and the
 * receiver defines the order.
 *
 * Owner    the caller still owns the resource; the other process imports the same memory
 * Data     NULL with size 0: none
 * Waits    at most timeout_ms milliseconds for room in the socket
 * Needs    a connected Unix stream socket; a Vulkan resource (gr_from_vk_*, gr_create_vk_*) that is
 *          not copied, or an OpenGL resource with the shared transport (gr_create_gl_*)
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  `socket` is not a socket; `size` exceeds GR_SHARE_MOST_DATA
 *     GR_ERR_UNSUPPORTED    the memory or the semaphores cannot be sent; the message says how to
 *                           create a resource that can be sent
 *     GR_ERR_STATE          the resource is mapped, closed, or in a ring
 *     GR_ERR_NOT_READY      the socket is full, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        the socket stayed full; close it if the message says so
 *     GR_ERR_SYSTEM         the other process is gone, or this process can open no more file
 *                           descriptors
 */
GR_API gr_status gr_resource_send(int socket, gr_resource *resource, const void *data, size_t size,
                                  unsigned timeout_ms);

/*
 * Receives a resource, and up to `room` bytes of the sender's own data into `data`.
 *
 *     struct mesh mesh;
 *     size_t size;
 *     gr_resource *r = gr_resource_receive(socket, &mesh, sizeof(mesh), &size, 1000);
 *
 * If the message contains no semaphores, gr_map() returns GR_ERR_STATE until gr_resource_set_sync()
 * defines the order (submit.h). With GR_SEMAPHORE_NONE the processes ensure the order themselves:
 * call gr_resource_wait() before you notify the other process that it may use the memory.
 *
 * The memory is imported into the current CUDA context if that context belongs to the device with
 * the memory, or, for a buffer created by grinterop, to a device with peer access to that device
 * (cuDeviceCanAccessPeer). Otherwise the memory is imported into the primary context of the device
 * with the memory.
 *
 * Owner    the caller, who frees it with gr_resource_free()
 * Data     *size is the number of bytes received. `size` may be NULL; `data` may be NULL if `room`
 *          is 0
 * Waits    at most timeout_ms milliseconds for the whole message
 *
 * After an error all received descriptors are closed. Another thread closes descriptors of
 * unexpected kinds a moment later, because close() may block.
 *
 * Errors: NULL after
 *     GR_ERR_INVALID_VALUE  `room` is too small: *size is the number of bytes, and the message can
 *                           be received again; or the message is not from grinterop, has another
 *                           version, or is inconsistent
 *     GR_ERR_UNSUPPORTED    the CUDA device of the sender is not available here
 *     GR_ERR_NOT_READY      there is no message, and `timeout_ms` is 0
 *     GR_ERR_TIMEOUT        the message did not arrive in time
 *     GR_ERR_SYSTEM         the other process is gone, or this process can open no more file
 *                           descriptors
 *     GR_ERR_CUDA           CUDA refused to import the memory or a semaphore
 *     GR_ERR_NO_MEMORY      the process or the device is out of memory, also for a message that
 *                           claims more than the device has
 */
GR_API gr_resource *gr_resource_receive(int socket, void *data, size_t room, size_t *size,
                                        unsigned timeout_ms);

/* ---- Rings ----------------------------------------------------------------------------------- */

/*
 * Sends a ring to another process, with `size` bytes of your own data.
 *
 * This process keeps `role`. The other process gets the other role, and uses CUDA for it. From then
 * on each process calls only the functions of its role.
 *
 * If the other process dies, acquires return GR_ERR_SYSTEM. Close its end of the socket in this
 * process: otherwise only a pidfd reports its death, which needs Linux 5.3 and a process that this
 * one can see. Frames already handed over can still be read. Streams
 * and graphics work of this process that wait for the dead process are released a moment later; the
 * frame that it was writing may be incomplete. A process that decreases the value of its semaphore
 * is treated as dead after some seconds.
 *
 * A living peer that does nothing blocks the streams and the graphics work that wait for its frame,
 * like an endless kernel. But no call on a ring blocks beyond its timeout. If OpenGL has no
 * semaphores (llvmpipe), the acquire itself waits for the frame, and returns GR_ERR_NOT_READY or
 * GR_ERR_TIMEOUT if the frame is not ready. gr_ring_free() waits at most 2 seconds for the peer and
 * the streams of the slots, then releases all work that still waits for the peer. If this process
 * keeps CUDA's side, it also waits for the last release of slots that the application keeps.
 *
 * Owner    the caller still owns the ring. Unless the call fails, the ring owns the socket from now
 *          on, and closes it when the ring is freed
 * Data     as for gr_resource_send()
 * Thread   as gr_ring_create(). During the call acquires of other threads find no slots and wait
 * Waits    at most timeout_ms milliseconds for work with the slots and for the socket
 * Needs    resources as for gr_resource_send(); no frames in flight. The ring cannot be resized any
 *          more
 *
 * If the semaphores of the slots can be exported and no other resource uses them, both processes
 * use them directly. OpenGL slots get such semaphores if OpenGL has timelines, this process keeps
 * the graphics side, and this is the thread of their context. Otherwise grinterop forwards the
 * signals in two streams of its own, which is slower.
 *
 * Errors: as for gr_resource_send(), and
 *     GR_ERR_INVALID_VALUE  `role` is unknown
 *     GR_ERR_STATE          frames are in flight; the ring is shared already, or being sent; or
 *                           the other process writes, and a Vulkan image is new
 */
GR_API gr_status gr_ring_send(int socket, gr_ring *ring, gr_ring_role role, const void *data,
                              size_t size, unsigned timeout_ms);

/*
 * Receives a ring, and up to `room` bytes of the sender's own data into `data`.
 *
 * The ring has the sender's mode, and this process has the role that the sender does not keep.
 *
 * Owner    the caller, who frees it with gr_ring_free(); the ring owns the socket, as for
 *          gr_ring_send()
 *
 * Data, waits and errors are as for gr_resource_receive().
 */
GR_API gr_ring *gr_ring_receive(int socket, void *data, size_t room, size_t *size,
                                unsigned timeout_ms);

/* ---- Interrupts ------------------------------------------------------------------------------ */

/*
 * Sets a function that this thread's sends and receives call while they wait, about every 50 ms. If
 * it returns true, they end with GR_ERR_STOPPED: then close the socket, because a part of a message
 * may have been transferred. NULL: none.
 *
 * Interpreters need it, which handle signals such as Ctrl-C between two calls on this thread. The
 * function must not use the resource or the ring of the call.
 */
GR_API void gr_share_set_interrupt(bool (*function)(void *user), void *user);

#ifdef __cplusplus
}
#endif
#endif
