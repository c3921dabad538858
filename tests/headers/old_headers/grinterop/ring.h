/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in flight between CUDA and a graphics API: a ring of slots, each a resource, that a
 * producer fills and a consumer reads. Several are under way at once, so that a frame waits only
 * for the frames that it depends on.
 *
 *     GR_AUTO(gr_ring) *ring = gr_ring_create(resources, 16, NULL);
 *     for (each frame) {
 *         const gr_slot *slot;
 *         if (gr_ring_acquire_write(ring, stream, &slot, 1, 0) == GR_OK) {
 *             ... kernels on `stream` write to gr_buffer_ptr(slot->buffer) ...
 *             gr_ring_publish(ring, &slot, 1);
 *         }
 *         if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0) == GR_OK) {
 *             ... OpenGL draws from gr_gl_name(slot->resource) ...
 *             gr_ring_give_back(ring, &slot, 1);
 *         }
 *     }
 *
 * One side of a ring is CUDA. It names a stream, and its slots are mapped. It may compute on
 * another GPU than graphics draws on: gr_gl_buffer_create() and gr_vk_device_wrap() say when.
 *
 * The other side is the graphics API of the resources, and names GR_STREAM_NONE. With OpenGL the
 * ring puts the waits and signals into the context's commands. With Vulkan a slot's `submit` has
 * them; gr_vk_submit() submits with it and commits it, which has to come before the hand-over.
 *
 * Groups: acquire n slots in one call, and hand them on in one call. A group costs one wait and one
 * signal. A GPU that switches between graphics and CUDA switches less often.
 *
 * Threads: producer and consumer may be two threads. Each side is one thread at a time. With
 * Vulkan's resources, and OpenGL's of the shared transport, CUDA's side needs no OpenGL context.
 * With OpenGL's others both sides are the thread of the context.
 */
#ifndef GR_RING_H
#define GR_RING_H

#include <stdint.h>

#include <grinterop/gr.h>
#include <grinterop/submit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Slots, each a resource, that go round between a producer and a consumer. */
typedef struct gr_ring gr_ring;

/* Who has a side of a ring. */
typedef enum gr_side {
    GR_SIDE_CUDA = 0,
    GR_SIDE_GRAPHICS = 1 /* OpenGL or Vulkan */
} gr_side;

/* What happens to frames that nobody has read. */
typedef enum gr_ring_mode {
    /* Every frame is read, in order. Without a free slot the producer has to wait. */
    GR_RING_LOSSLESS = 0,

    /* The newest frame is read and older ones are dropped. The producer writes over them. */
    GR_RING_NEWEST = 1
} gr_ring_mode;

/* The two sides by what they do. */
typedef enum gr_ring_role {
    GR_RING_PRODUCER = 1, /* acquires slots to write to */
    GR_RING_CONSUMER = 2  /* acquires frames to read */
} gr_ring_role;

/* ---- Life ------------------------------------------------------------------------------------ */

/* How a ring works. */
typedef struct gr_ring_options {
    size_t struct_size;

    /* Who writes; the other side reads. 0: CUDA writes. */
    gr_side producer;

    /* What happens to frames that nobody has read. 0: each waits until it is read. */
    gr_ring_mode mode;
} gr_ring_options;

/*
 * Makes a ring whose slots are n resources.
 *
 *     gr_ring *ring = gr_ring_create(resources, n, NULL);
 *     for (size_t i = 0; i < n; i++)
 *         gr_resource_free(resources[i]);
 *
 * The resources are of one kind, size, transport and CUDA context, and not mapped. While they are
 * in the ring, gr_map() and gr_submit_begin() refuse them.
 *
 * Owner    the ring is the caller's, who frees it; each resource is held by the ring and, as
 *          before, by the caller, who frees it whenever it suits
 * Options  NULL is the default
 * Thread   OpenGL's resources: where their context is current
 * Needs    with Vulkan: both semaphores, timelines, the same for all slots; the device's own pair,
 *          which resources have from the start, is replaced by one of the ring's own
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  n is 0; an option means nothing; a resource is unlike the others
 *     GR_ERR_STATE          a resource is mapped, closed, or in a ring already
 *     GR_ERR_GL             the OpenGL context of the resources is not current
 *     GR_ERR_NO_MEMORY
 */
GR_API gr_ring *gr_ring_create(gr_resource *const resources[], size_t n,
                               const gr_ring_options *options);

/*
 * Gives the ring n other slots, with frames in flight.
 *
 * What was published before is still read first. The next acquire for writing takes one of the new
 * slots. The ring lets go of each old resource as soon as it is free: the caller who still holds it
 * has an ordinary resource again.
 *
 * Thread   as gr_ring_create(); also while the other side's thread is at work
 *
 * Errors: as for gr_ring_create(), and
 *     GR_ERR_STATE  the ring is shared with another process, or being sent to one
 */
GR_API gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n);

/*
 * Ends all waiting: from now on nothing is written, and what was published can be read.
 *
 * Every acquire that waits returns GR_ERR_STOPPED, and so does each later one for writing, and each
 * for reading that finds too few frames. NULL does nothing.
 *
 * Thread   any
 */
GR_API void gr_ring_stop(gr_ring *ring);

/*
 * Frees the ring, and lets go of its resources in the order of the streams' work. NULL does
 * nothing.
 *
 * A resource that the caller still holds is an ordinary one again. Slots that are out are unmapped
 * on the stream of their acquire: their buffers report 0, and are still to be released.
 *
 * Thread   threads that wait in an acquire have to have returned: gr_ring_stop() makes them
 * Needs    Vulkan's submits with its slots to be done
 */
GR_API void gr_ring_free(gr_ring *ring);

/* ---- Slots ----------------------------------------------------------------------------------- */

/*
 * A slot in the hands of one side.
 *
 * Owner    the ring
 * Valid    from the acquire until the slot is handed on
 */
typedef struct gr_slot {
    /* The slot's resource: the graphics API draws with the object that it was made from. */
    gr_resource *resource;

    /* CUDA's side: the mapping, which the ring releases. NULL on the other side. */
    gr_buffer *buffer;

    /*
     * Vulkan's side: what its submit waits for and signals, one for all slots of an acquire. It has
     * to be committed, once, before any of them is published or given back: gr_vk_submit() does,
     * and who submits by other means calls gr_submit_commit(). The ring frees it. NULL otherwise.
     */
    gr_submit *submit;

    /*
     * The number of the frame that is in the slot. The first frame is 1. Of a slot that is being
     * written it is the number that the frame gets if slots are published in the order of their
     * acquires, and none is cancelled. Publishing decides.
     */
    uint64_t frame;

    /* The slot's number, which is its resource's place in the array that the ring was given. */
    unsigned index;
} gr_slot;

/*
 * Takes n slots to write to, the ones that have been free for longest. All or none.
 *
 *     const gr_slot *slots[4];
 *     gr_status status = gr_ring_acquire_write(ring, stream, slots, 4, 1000);
 *
 * In GR_RING_NEWEST, frames that nobody has read make room, the oldest first.
 *
 * Slots     written into `slots` on success only; handed on by gr_ring_publish(), or given up by
 *           gr_ring_cancel_write()
 * Stream    CUDA's work with the slots goes there; it may be destroyed once they are handed on.
 *           GR_STREAM_NONE where graphics writes
 * Waits     for the other thread or process, up to timeout_ms milliseconds; 0 does not wait, and
 *           GR_WAIT_FOREVER waits until there are slots
 *
 * Errors: as for gr_map(), and
 *     GR_ERR_NOT_READY      timeout_ms is 0 and there are not n free slots
 *     GR_ERR_TIMEOUT        there were not n free slots in that time
 *     GR_ERR_STOPPED        gr_ring_stop() was called
 *     GR_ERR_SYSTEM         the ring's other process is gone
 *     GR_ERR_INVALID_VALUE  n is 0 or more than there are slots; a stream that the side has not
 *     GR_ERR_STATE          the other process has this role
 */
GR_API gr_status gr_ring_acquire_write(gr_ring *ring, CUstream stream, const gr_slot *slots[],
                                       size_t n, unsigned timeout_ms);

/*
 * Hands n slots that were written on to the consumer, as frames in this order.
 *
 * CUDA's part of the frame is what the stream has been given so far. After this the stream may be
 * destroyed. Vulkan's submit has to have been committed, since a stream would wait for ever for one
 * that is never made.
 *
 * Errors: as for gr_buffer_release(), after which the slots are still the caller's, and
 *     GR_ERR_INVALID_VALUE  n is 0; a slot is not the ring's, or listed twice
 *     GR_ERR_STATE          a slot is not being written; its submit has not been committed
 */
GR_API gr_status gr_ring_publish(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Gives up n slots that were acquired for writing. They hold no frame, and are free.
 *
 * This is the way back when the work with the slots fails. A submit of Vulkan's that has not been
 * committed is taken back; one that was committed for the slots of the acquire stays.
 *
 * Errors: as for gr_ring_publish(), but no submit has to be committed
 */
GR_API gr_status gr_ring_cancel_write(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Takes n frames to read: the next ones in order, or in GR_RING_NEWEST the newest n, older ones
 * being dropped. All or none.
 *
 * Slots, stream and waiting are as for gr_ring_acquire_write(). They are handed on by
 * gr_ring_give_back(), or given up by gr_ring_cancel_read().
 *
 * Errors: as for gr_ring_acquire_write(), and
 *     GR_ERR_STOPPED  gr_ring_stop() was called, and fewer than n frames are left
 */
GR_API gr_status gr_ring_acquire_read(gr_ring *ring, CUstream stream, const gr_slot *slots[],
                                      size_t n, unsigned timeout_ms);

/*
 * Gives n slots back that were read. Vulkan's submit has to have been committed, and CUDA's stream
 * may be destroyed after this, as for gr_ring_publish().
 *
 * In GR_RING_LOSSLESS some are free a little later. Where OpenGL reads by the shared transport, or
 * Vulkan does, slots become free together, once half of them were given back: the GPU then changes
 * sides less often. Vulkan's are free earlier if a producer needs them. OpenGL's, fewer than half,
 * may stay with the consumer until its next call: a consumer that waits for a producer which needs
 * every slot has to wait in gr_ring_acquire_read(), or poll gr_ring_descriptor().
 *
 * Errors: as for gr_ring_publish(), and
 *     GR_ERR_STATE  a slot is not being read; its submit has not been committed
 */
GR_API gr_status gr_ring_give_back(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Gives up n slots that were acquired for reading. Their frames are unread again.
 *
 * This is the way back when the work with the slots fails. The next gr_ring_acquire_read() gets the
 * frames in their order, before newer ones. In GR_RING_NEWEST a frame is dropped if a newer one was
 * given back or is being read. Work that was issued with the slots is still waited for before they
 * are written again. A submit of Vulkan's that has not been committed is taken back.
 *
 * Errors: as for gr_ring_give_back(), but no submit has to be committed
 */
GR_API gr_status gr_ring_cancel_read(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* ---- What is in it --------------------------------------------------------------------------- */

/* The numbers of a ring's frames and slots. */
typedef struct gr_ring_info {
    /* Frames so far: published is the sum of read, dropped, ready and reading. */
    uint64_t published, read, dropped;

    /* Slots by what they are. `free` has all that were given back. */
    unsigned slots, free, writing, ready, reading;
} gr_ring_info;

/*
 * Tells the ring's numbers as they are now. NULL, and GR_ERR_INVALID_VALUE, if `ring` is NULL.
 *
 * Owner    the calling thread's
 * Valid    until the thread's next call of this function
 */
GR_API const gr_ring_info *gr_ring_get_info(gr_ring *ring);

/*
 * A file descriptor to poll: readable while an acquire of one slot by that role would not wait.
 *
 *     struct pollfd one = {.fd = gr_ring_descriptor(ring, GR_RING_CONSUMER), .events = POLLIN};
 *     poll(&one, 1, -1);
 *
 * It is readable too where waiting is over: after gr_ring_stop(), and when the other process is
 * gone. The other side may be faster, so acquire with a timeout of 0. Do not read from it: it is
 * level-triggered, and stays readable until there is nothing left to acquire. A ring whose
 * descriptor was asked for frees OpenGL's slots one by one. Those that were given back before that
 * make the consumer's readable without a frame: its next acquire, on OpenGL's thread, frees them.
 *
 * Owner    the ring; do not close it
 * Valid    until the ring is freed
 *
 * Errors, and -1:
 *     GR_ERR_INVALID_VALUE  `ring` is NULL, or `role` is none
 *     GR_ERR_STATE          the other process has this role
 *     GR_ERR_UNSUPPORTED    this system has no such descriptors
 *     GR_ERR_SYSTEM         it could not be made
 */
GR_API int gr_ring_descriptor(gr_ring *ring, gr_ring_role role);

#if defined(__GNUC__)
GR_API void gr_ring_at_scope_end(gr_ring **ring); /* for GR_AUTO(gr_ring) */
#endif

#ifdef __cplusplus
}
#endif
#endif
