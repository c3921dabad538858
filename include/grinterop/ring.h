/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Frames in flight between CUDA and a graphics API: a ring of slots, each a resource, which a
 * producer writes and a consumer reads. A frame waits only for the frames that it depends on. For
 * one program that draws each OpenGL frame in order, `in_flight` of gr_gl_options (gl.h) is as fast
 * without a ring; rings add lag, dropped frames, other processes and batches.
 *
 *     GR_AUTO(gr_ring) *ring = gr_ring_create(resources, 16, NULL);
 *     for (each frame) {
 *         const gr_slot *slot;
 *         if (gr_ring_acquire_write(ring, stream, &slot, 1, 0) == GR_OK) {
 *             ... kernels on `stream` write to gr_buffer_ptr(slot->buffer) ...
 *             gr_ring_hand_over(ring, &slot, 1);
 *         }
 *         if (gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, 0) == GR_OK) {
 *             ... OpenGL draws from gr_gl_name(slot->resource) ...
 *             gr_ring_give_back(ring, &slot, 1);
 *         }
 *     }
 *
 * The CUDA side passes a stream, and its slots are mapped. CUDA may compute on another GPU than the
 * one that draws: see gr_create_gl_buffer() and gr_vk_device_from_vk().
 *
 * The graphics side passes GR_STREAM_NONE. For OpenGL the ring adds waits and signals to the
 * commands of the context. For Vulkan the waits and signals are in the slot's `submit`: pass
 * `submit` to gr_vk_submit() before you hand the slot on.
 *
 * A ring of N slots has N - 2 frames in flight besides the one that is written and the one that is
 * read.
 *
 * Batches: one call acquires or hands on n slots, with one wait and one signal. The GPU then
 * switches less often between graphics and CUDA.
 *
 * Threads: producer and consumer may be two threads; one thread at a time may act for a side. With
 * Vulkan, and with OpenGL's shared transport, the CUDA side needs no OpenGL context. With the other
 * OpenGL transports both sides run on the thread of the context. On Windows both sides are in one
 * process, because the functions of share.h fail there.
 */
#ifndef GR_RING_H
#define GR_RING_H

#include <stdint.h>

#include <grinterop/gr.h>
#include <grinterop/submit.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A ring of slots between a producer and a consumer. */
typedef struct gr_ring gr_ring;

/* The API of one side of a ring. */
typedef enum gr_side {
    GR_SIDE_CUDA = 0,
    GR_SIDE_GRAPHICS = 1 /* OpenGL or Vulkan */
} gr_side;

/* What happens to unread frames. */
typedef enum gr_ring_mode {
    /* Every frame is read, in order. If no slot is free, the producer waits. */
    GR_RING_LOSSLESS = 0,

    /* The newest frame is read. The producer overwrites older frames. */
    GR_RING_NEWEST = 1
} gr_ring_mode;

/* The role of one side of a ring. */
typedef enum gr_ring_role {
    GR_RING_PRODUCER = 1, /* acquires slots to write to */
    GR_RING_CONSUMER = 2  /* acquires frames to read */
} gr_ring_role;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Options of gr_ring_create(). */
typedef struct gr_ring_options {
    size_t struct_size;

    /* The side that writes; the other side reads. */
    gr_side producer;

    /* What happens to unread frames. */
    gr_ring_mode mode;
} gr_ring_options;

/*
 * Creates a ring whose slots are n resources.
 *
 *     gr_ring *ring = gr_ring_create(resources, n, NULL);
 *     for (size_t i = 0; i < n; i++)
 *         gr_resource_free(resources[i]);
 *
 * The resources have the same kind, size, transport, OpenGL context and CUDA context, and are not
 * mapped. While they are in the ring, gr_map(), gr_resource_close() and gr_submit_begin() refuse
 * them.
 *
 * Owner    the caller frees the ring. The ring keeps the resources alive, so the caller may free
 *          them at any time
 * Options  NULL means the defaults
 * Thread   for OpenGL resources, where their context is current
 * Order    what the graphics API wrote to a slot before this call comes before its first frame.
 *          Later, each side uses a slot only while it has acquired it
 * Needs    for Vulkan: the same two timeline semaphores for all slots. If these are the pair of
 *          the device, the ring replaces them with its own pair
 * Waits    before it replaces them, until the last Vulkan submit and CUDA release of each resource
 *          are done; a submit is done only after earlier frames of its queue
 *
 * Errors:
 *     GR_ERR_INVALID_VALUE  n is 0 or exceeds 1024; an unknown option; a resource differs from the
 *                           others
 *     GR_ERR_STATE          a resource is mapped, closed, or in a ring already; or CUDA writes the
 *                           slots, and a Vulkan image is new: call gr_vk_hand_over() first
 *     GR_ERR_GL             the OpenGL context of the resources is not current
 */
GR_API gr_ring *gr_ring_create(gr_resource *const resources[], size_t n,
                               const gr_ring_options *options);

/*
 * Replaces the slots of a ring by n other slots. Frames may be in flight.
 *
 * Frames in the old slots are still read first. The next acquire for writing takes a new slot. The
 * ring releases each old resource as soon as its slot is free; then the resource can be used
 * outside of the ring again.
 *
 * Thread   as gr_ring_create(); the other side may be in use meanwhile
 * Waits    as gr_ring_create(), so a new Vulkan image that was just submitted waits for the frames
 *          in flight
 *
 * Errors: as for gr_ring_create(), and
 *     GR_ERR_INVALID_VALUE  old and new slots exceed 1024 together; old ones count until they have
 *                           been released
 *     GR_ERR_STATE  the ring is shared with another process, or is being sent to a process
 */
GR_API gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n);

/*
 * Stops a ring: ends all waits and all writing. Frames that were handed over before can still be
 * read.
 *
 * Acquires that are waiting return GR_ERR_STOPPED. So do later acquires for writing, and later
 * acquires for reading if there are too few frames.
 *
 * Thread   any
 */
GR_API void gr_ring_stop(gr_ring *ring);

/*
 * Frees the ring, and releases its resources in stream order.
 *
 * Resources that the caller has not freed can be used outside of the ring again. Acquired slots are
 * unmapped in the stream of their acquire, and freed with the ring. Their buffers then report
 * pointer 0 and size 0, and still have to be released: copy `slot->buffer` before this call, or
 * hand on or cancel the slots.
 *
 * Thread   no other thread may be in an acquire; gr_ring_stop() ends waiting acquires
 * Needs    all Vulkan submits with slots of the ring must be done
 */
GR_API void gr_ring_free(gr_ring *ring);

/* ---- Slots ----------------------------------------------------------------------------------- */

/*
 * An acquired slot.
 *
 * Owner    the ring
 * Valid    from the acquire until the slot is handed on or the ring is freed
 */
typedef struct gr_slot {
    /* The resource, whose OpenGL or Vulkan object the graphics side uses. */
    gr_resource *resource;

    /* On the CUDA side: the mapping, which the ring releases. Otherwise NULL. */
    gr_buffer *buffer;

    /*
     * On the Vulkan side: the waits and signals for your submit, shared by all slots of an acquire.
     * Commit the submit once, by gr_vk_submit() with `last` or by gr_submit_commit(), before you
     * hand on any of these slots. The ring frees the submit. On other sides: NULL.
     */
    gr_submit *submit;

    /*
     * The number of the frame in the slot, from 1. For a slot acquired for writing, the number that
     * the frame will get if slots are handed over in the order of their acquires and none is
     * cancelled.
     */
    uint64_t frame;

    /* The index of the resource in the array passed to gr_ring_create() or gr_ring_resize(). */
    unsigned index;
} gr_slot;

/*
 * Acquires n slots for writing: the slots that have been free for longest. Acquires all n or none.
 *
 *     const gr_slot *slots[4];
 *     gr_status status = gr_ring_acquire_write(ring, stream, slots, 4, 1000);
 *
 * In GR_RING_NEWEST this overwrites unread frames, the oldest first.
 *
 * Slots     written into `slots` on success only; hand them on by gr_ring_hand_over(), or give them
 *           up by gr_ring_cancel_write()
 * Stream    for CUDA work with the slots; may be destroyed once the slots are handed on.
 *           GR_STREAM_NONE if the graphics side writes
 * Waits     for the other thread or process, at most timeout_ms milliseconds
 *
 * Errors: as for gr_map(), and
 *     GR_ERR_NOT_READY      timeout_ms is 0 and fewer than n slots are free
 *     GR_ERR_TIMEOUT        fewer than n slots became free in that time
 *     GR_ERR_STOPPED        gr_ring_stop() was called
 *     GR_ERR_SYSTEM         the other process of the ring is gone
 *     GR_ERR_INVALID_VALUE  n is 0 or exceeds the number of slots; the stream is NULL, or the
 *                           stream and the side do not match: CUDA needs a stream, the graphics
 *                           side GR_STREAM_NONE
 *     GR_ERR_STATE          the other process has this role; or slots are free, but the stream
 *                           captures a graph
 */
GR_API gr_status gr_ring_acquire_write(gr_ring *ring, CUstream stream, const gr_slot *slots[],
                                       size_t n, unsigned timeout_ms);

/*
 * Hands n written slots on to the consumer, as frames in the order of `slots`.
 *
 * If CUDA is the producer, the consumer waits for the work that is in the stream so far. The stream
 * may be destroyed after this call. A Vulkan submit must have been committed, because a stream
 * would wait forever for a missing submit.
 *
 * Errors: as for gr_buffer_release(), after which the caller still has the slots, and
 *     GR_ERR_INVALID_VALUE  n is 0; a slot belongs to another ring, or is listed twice
 *     GR_ERR_STATE          a slot is not acquired for writing; its submit was not committed
 */
GR_API gr_status gr_ring_hand_over(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Gives up n slots acquired for writing, for example because the work with them failed. The slots
 * become free and hold no frame. A Vulkan submit is undone unless it was committed.
 *
 * Errors: as for gr_ring_hand_over(), but the submit need not be committed
 */
GR_API gr_status gr_ring_cancel_write(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Acquires n frames for reading: the next n in order, or in GR_RING_NEWEST the newest n, which
 * drops older frames. Acquires all n or none.
 *
 * The rules for slots, stream and waits are those of gr_ring_acquire_write(). Give the slots back
 * by gr_ring_give_back(), or give them up by gr_ring_cancel_read().
 *
 * Errors: as for gr_ring_acquire_write(), and
 *     GR_ERR_STOPPED  gr_ring_stop() was called, and fewer than n frames are left
 */
GR_API gr_status gr_ring_acquire_read(gr_ring *ring, CUstream stream, const gr_slot *slots[],
                                      size_t n, unsigned timeout_ms);

/*
 * Gives n read slots back. A Vulkan submit must have been committed, and a CUDA stream may be
 * destroyed afterwards, as for gr_ring_hand_over().
 *
 * OpenGL signals once for all n slots, and CUDA waits for them once. A signal delays the GPU by
 * some microseconds: with very short frames, read several before you give their slots back.
 *
 * Errors: as for gr_ring_hand_over(), and
 *     GR_ERR_STATE  a slot is not acquired for reading; its submit was not committed
 */
GR_API gr_status gr_ring_give_back(gr_ring *ring, const gr_slot *const slots[], size_t n);

/*
 * Gives up n slots acquired for reading, for example because the work with them failed. Their
 * frames are unread again.
 *
 * The next gr_ring_acquire_read() gets these frames in order, before newer frames. In
 * GR_RING_NEWEST a frame is dropped if a newer frame was given back or is being read. The next
 * writes to the slots wait for work with the slots that was issued before this call. A Vulkan
 * submit is undone unless it was committed.
 *
 * Errors: as for gr_ring_give_back(), but the submit need not be committed
 */
GR_API gr_status gr_ring_cancel_read(gr_ring *ring, const gr_slot *const slots[], size_t n);

/* ---- Queries --------------------------------------------------------------------------------- */

/*
 * The counts of frames and slots of a ring. If the ring is shared with another process, the
 * consumer's `free` includes the slots that the producer is writing. The consumer does not know
 * `newest_age_ns` if the ring has more than 960 slots, or the producer is of version 0.2.0.
 */
typedef struct gr_ring_info {
    /* The numbers of frames so far. `written` is the sum of read, dropped, ready and reading. */
    uint64_t written, read, dropped;

    /* The number of slots, and the number in each state. */
    unsigned slots, free, writing, ready, reading;

    /* The nanoseconds since the newest frame was handed over. 0: none was, or it is unknown. */
    GR_NEW_FIELD(uint64_t) newest_age_ns;
} gr_ring_info;

/*
 * The current counts of a ring. NULL with GR_ERR_INVALID_VALUE if `ring` is NULL.
 *
 * Owner    the library, per thread
 * Valid    until this thread's next call of this function
 */
GR_API const gr_ring_info *gr_ring_get_info(gr_ring *ring);

/*
 * A file descriptor for poll(): readable while `role` could acquire a slot without waiting.
 *
 *     struct pollfd one = {.fd = gr_ring_descriptor(ring, GR_RING_CONSUMER), .events = POLLIN};
 *     poll(&one, 1, -1);
 *
 * It is also readable after gr_ring_stop() and when the other process is gone. Acquire with a
 * timeout of 0, because another acquire may have taken the slot. Do not read from the descriptor:
 * it is level-triggered and stays readable while a slot can be acquired. To wait for several slots,
 * poll by epoll with EPOLLET, which also reports each further slot.
 *
 * Owner    the ring; do not close it
 * Valid    until the ring is freed, which makes a copy by dup() readable
 *
 * Errors: -1 after
 *     GR_ERR_INVALID_VALUE  `ring` is NULL, or `role` is unknown
 *     GR_ERR_STATE          the other process has this role
 *     GR_ERR_UNSUPPORTED    always on Windows, which has no such descriptors
 *     GR_ERR_SYSTEM         the descriptor could not be created
 */
GR_API int gr_ring_descriptor(gr_ring *ring, gr_ring_role role);

GR_SCOPE_END(gr_ring, gr_ring_free)

#ifdef __cplusplus
}
#endif
#endif
