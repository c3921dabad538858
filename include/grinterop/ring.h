/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames in flight between CUDA and a graphics API: a ring of slots, each a resource, that a producer fills and
 * a consumer reads, several at once under way. What makes it fast is that a frame waits only for the frames
 * that it depends on; on a GPU that switches between graphics and CUDA, groups of frames share the switches.
 *
 *     gr_ring *ring = gr_ring_create(resources, 16, &(gr_ring_options){.producer = GR_SIDE_CUDA});
 *     for (each frame) {
 *         gr_slot slot;
 *         if (gr_ring_acquire_write(ring, stream, 1, &slot) == GR_OK) {
 *             ... kernels on `stream` write to gr_buffer_ptr(slot.buffer) ...
 *             gr_ring_publish(ring, 1, &slot);
 *         }
 *         if (gr_ring_acquire_read(ring, NULL, 1, &slot) == GR_OK) {
 *             ... OpenGL draws from the slot's buffer object (gr_gl_name(slot.resource)) ...
 *             gr_ring_give_back(ring, 1, &slot);
 *         }
 *     }
 *
 * The side that is CUDA gets a mapped buffer and names a stream; the other side is the graphics API of the
 * resources: OpenGL (grinterop puts the waits and signals into the context's commands) or Vulkan (slot.submit
 * says what the application's submit has to wait for and signal; with a group, the last slot's stands for all).
 *
 * Threads: producer and consumer may be two threads; each side is one thread at a time. With resources of
 * the shared transport and of Vulkan, CUDA's side needs no OpenGL context; with those of the others both sides
 * are the thread of the context.
 */
#ifndef GR_RING_H
#define GR_RING_H

#include <stdint.h>

#include <grinterop/gr.h>
#include <grinterop/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_ring gr_ring;

typedef enum gr_side { GR_SIDE_CUDA = 0, GR_SIDE_GRAPHICS } gr_side;

typedef enum gr_ring_mode {
    GR_RING_LOSSLESS =
        0,         /* every frame is read, in order; without a free slot the producer has to wait */
    GR_RING_NEWEST /* the newest frame is read, older ones are dropped; the producer never waits */
} gr_ring_mode;

/* Options of gr_ring_create(). Zero is the good default for every field. */
typedef struct gr_ring_options {
    gr_side producer; /* who writes; the other side reads */
    gr_ring_mode mode;
    unsigned
        wait_ms; /* how long an acquire may wait for the other thread, ~0u: for ever; default 0: not */
} gr_ring_options;

/* A slot in the hands of one side. */
typedef struct gr_slot {
    gr_resource *resource;
    gr_buffer *buffer; /* CUDA's side: the mapping, until the slot is handed on; NULL otherwise */
    gr_submit submit;  /* Vulkan's side: what its submit waits for and signals; zero otherwise */
    uint64_t frame;    /* number of the frame that is in it, from 1, or that will be */
    unsigned index;    /* of the slot */
} gr_slot;

/*
 * Makes a ring of n resources, 1 or more, all of one transport and CUDA context, of the same kind and size; not
 * mapped. On success they are the ring's, who frees them; after an error still the caller's. Resources of
 * Vulkan need their two semaphores (gr_resource_set_sync()), the same for all.
 * `options` may be NULL. Vulkan's semaphores have to be timelines. For OpenGL's resources this and gr_ring_resize() are
 * called on the thread of their context.
 * Errors: GR_ERR_INVALID_VALUE, GR_ERR_STATE (closed, mapped, in another ring), GR_ERR_GL, GR_ERR_NO_MEMORY.
 */
GR_API gr_ring *gr_ring_create(gr_resource *const resources[], size_t n,
                               const gr_ring_options *options);

/*
 * Takes n slots to write to, oldest first: all or none. `stream` is CUDA's, where CUDA writes, else NULL. The
 * calling thread waits only as long as the options allow: GR_ERR_TIMEOUT says that there are not n free ones.
 * In GR_RING_NEWEST, published frames that nobody has read make room, the oldest first.
 * Other errors: as for gr_map(); GR_ERR_INVALID_VALUE (n is 0 or more than there are slots).
 */
GR_API gr_status gr_ring_acquire_write(gr_ring *ring, CUstream stream, size_t n, gr_slot slots[]);

/*
 * Hands n slots that were acquired for writing to the consumer, as frames in this order. CUDA's work is what
 * its stream has been given; Vulkan's submit has to have been made. n slots cost one signal.
 * GR_ERR_STATE: a slot is not one that is being written.
 */
GR_API gr_status gr_ring_publish(gr_ring *ring, size_t n, gr_slot slots[]);

/* Gives slots that were acquired for writing back unpublished; they hold no frame. */
GR_API gr_status gr_ring_cancel_write(gr_ring *ring, size_t n, gr_slot slots[]);

/*
 * Takes n frames to read: the next ones in order, or in GR_RING_NEWEST the newest n, older ones being dropped.
 * All or none, as above. GR_ERR_TIMEOUT: so many have not been published.
 */
GR_API gr_status gr_ring_acquire_read(gr_ring *ring, CUstream stream, size_t n, gr_slot slots[]);

/*
 * Gives n slots back that were read; Vulkan's submit has to have been made. GR_ERR_STATE: a slot is not one that is
 * being read.
 * In GR_RING_LOSSLESS, where OpenGL reads by the shared transport or Vulkan does, slots that were given back are free
 * together, once they are half of the ring's, and CUDA's writing to any of them comes after the reading of all: so the
 * GPU changes sides less often, and OpenGL signals less often. Vulkan's are free earlier if a producer needs them.
 * OpenGL's may stay with the consumer until its next call, fewer than half of the ring's: a producer on another thread
 * has to wait for them until the consumer has given back half, or finds nothing to read; so that consumer does not
 * wait, but in gr_ring_acquire_read(), for a producer that needs every slot.
 */
GR_API gr_status gr_ring_give_back(gr_ring *ring, size_t n, gr_slot slots[]);

/*
 * Replaces the slots, for another size or number, with frames in flight: what was published before is still read
 * first, the old slots are freed as they become free, and the next acquire for writing takes a new one.
 * The resources are the ring's on success. Errors as for gr_ring_create().
 */
GR_API gr_status gr_ring_resize(gr_ring *ring, gr_resource *const resources[], size_t n);

/* Frames so far. */
typedef struct gr_ring_info {
    uint64_t published, read, dropped;
    unsigned slots, free, writing, ready, reading; /* `free` has all that were given back */
} gr_ring_info;
GR_API void gr_ring_get_info(gr_ring *ring, gr_ring_info *counts);

/*
 * Frees the ring and its resources, in stream order; slots that are still out end as by gr_resource_close(), and their buffers
 * are still to be released. Vulkan's submits with its slots have to be done by then. Threads that
 * wait in an acquire are to have returned (gr_ring_stop() makes them).
 */
GR_API void gr_ring_free(gr_ring *ring);

/* Every acquire that waits, and every later one for writing, returns GR_ERR_STATE; published frames can be read. */
GR_API void gr_ring_stop(gr_ring *ring);

#if defined(__GNUC__)
GR_API void gr_ring_at_scope_end(gr_ring **ring); /* for GR_AUTO(gr_ring) */
#endif

#ifdef __cplusplus
}
#endif
#endif
