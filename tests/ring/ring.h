/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the parts of test_ring: rings of OpenGL buffers with the interop transport, and frames
 * filled with one value.
 */
#ifndef GR_TESTS_RING_H
#define GR_TESTS_RING_H

#include "tests/support/support.h"

#include <grinterop/ring.h>

/* The usual size of a slot in bytes, and the maximum number of slots in these tests. */
#define RING_SIZE  64
#define RING_SLOTS 128

/*
 * The transports of the buffers, over which cases loop. Each such case begins with
 * need_transport(), which skips the case if this machine lacks the transport.
 */
#define RING_TRANSPORTS 3
#define need_transport(index)                                                                      \
    do {                                                                                           \
        const char *missing_ = ring_use_transport(index);                                          \
        if (missing_)                                                                              \
            skip("%s", missing_);                                                                  \
    } while (0)
const char *ring_use_transport(int index);

/* Adds a case to the suite. The case uses interop unless it selects another transport. */
TCase *add_ring_case(Suite *suite, const char *name);

/*
 * Creates a resource of an OpenGL buffer with `size` zero bytes. With interop the buffer outlives
 * the resource.
 */
gr_resource *ring_resource(size_t size);
GLuint ring_name(const gr_resource *resource);

/* Creates n such resources. The array is valid until the next call. */
gr_resource *const *ring_resources(size_t n, size_t size);

/*
 * Creates a ring of n such buffers of RING_SIZE bytes. The ring holds the only references to them.
 */
gr_ring *must_make_ring(size_t n, const gr_ring_options *options);
gr_ring *must_make_ring_of(size_t n, gr_side producer, gr_ring_mode mode);

/*
 * The stream for an acquire: the CUDA stream on the CUDA side, GR_STREAM_NONE on the graphics side.
 */
CUstream ring_stream(gr_side producer, bool writing);

/* Acquires n slots. The call must succeed. */
void must_acquire_write(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n);
void must_acquire_read(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n);

/*
 * slot_fill() writes all bytes of a slot on the side that acquired it, assert_slot() checks them.
 */
void slot_fill(const gr_slot *slot, int value);
void assert_slot(const gr_slot *slot, int value);

/*
 * A complete frame: write_frame() acquires a slot, fills it and hands it over; read_frame()
 * acquires a slot, checks it and gives it back. Both return the number of the frame.
 */
uint64_t write_frame(gr_ring *ring, gr_side producer, int value);

/* Writes frames `first` to `last` in a row, each filled with its number. */
void write_frames(gr_ring *ring, gr_side producer, int first, int last);
uint64_t read_frame(gr_ring *ring, gr_side producer, int value);

/* CUDA writes a frame into slots of any size, and OpenGL acquires it for reading. */
const gr_slot *ring_to_opengl(gr_ring *ring, int value, int64_t timeout_ms);

/* Like ring_to_opengl(). Then OpenGL checks the bytes and gives the slot back. */
void ring_frame(gr_ring *ring, int value, int64_t timeout_ms);

/* Check the number of slots in each state, and the number of frames so far. */
void assert_counts(const gr_ring_info *counts, unsigned free, unsigned writing, unsigned ready,
                   unsigned reading);
void assert_slots(gr_ring *ring, unsigned free, unsigned writing, unsigned ready, unsigned reading);
void assert_frames(gr_ring *ring, uint64_t written, uint64_t read, uint64_t dropped);

#endif
