/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of test_ring share: rings of OpenGL buffers, and frames that are filled with one
 * value.
 */
#ifndef GR_TESTS_RING_H
#define GR_TESTS_RING_H

#include "tests/support/support.h"

#include <grinterop/ring.h>

/* Bytes of a slot, as a rule, and how many slots a ring of these tests has at the most. */
#define RING_SIZE  64
#define RING_SLOTS 128

/*
 * The transport of the buffers, by which loops of cases run. Each case begins with
 * need_transport(), which skips the case where that transport does not work here.
 */
#define RING_TRANSPORTS 3
#define need_transport(index)                                                                      \
    do {                                                                                           \
        const char *missing_ = ring_use_transport(index);                                          \
        if (missing_)                                                                              \
            skip("%s", missing_);                                                                  \
    } while (0)
const char *ring_use_transport(int index);

/* A case of the suite, with interop as long as it names no other. */
TCase *add_ring_case(Suite *suite, const char *name);

/* An OpenGL buffer of `size` bytes that are 0, as a resource. By interop the buffer outlives it. */
gr_resource *ring_resource(size_t size);
GLuint ring_name(const gr_resource *resource);

/* n of them; valid until the next call. */
gr_resource *const *ring_resources(size_t n, size_t size);

/* Frees them: what a ring has goes on. */
void ring_resources_free(gr_resource *const resources[], size_t n);

/* A ring of n such buffers of RING_SIZE bytes, which alone holds them. */
gr_ring *must_make_ring(size_t n, const gr_ring_options *options);
gr_ring *must_make_ring_of(size_t n, gr_side producer, gr_ring_mode mode);

/* CUDA's stream on the side that is CUDA, GR_STREAM_NONE on the other. */
CUstream ring_stream(gr_side producer, bool writing);

/* Acquires n slots, which has to succeed. */
void must_acquire_write(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n);
void must_acquire_read(gr_ring *ring, gr_side producer, const gr_slot *slots[], size_t n);

/* Writes all bytes of a slot on the side that has it, and checks them. */
void slot_fill(const gr_slot *slot, int value);
void assert_slot(const gr_slot *slot, int value);

/*
 * A whole frame: acquired, filled and published; acquired, checked and given back. It gives its
 * number.
 */
uint64_t write_frame(gr_ring *ring, gr_side producer, int value);

/* Those frames in a row, each with its number in it. */
void write_frames(gr_ring *ring, gr_side producer, int first, int last);
uint64_t read_frame(gr_ring *ring, gr_side producer, int value);

/* The numbers of slots in each state, and the frames so far. */
void assert_counts(const gr_ring_info *counts, unsigned free, unsigned writing, unsigned ready,
                   unsigned reading);
void assert_slots(gr_ring *ring, unsigned free, unsigned writing, unsigned ready, unsigned reading);
void assert_frames(gr_ring *ring, uint64_t published, uint64_t read, uint64_t dropped);

/* ring_frames.c's child: one of several processes that use the GPU at once. */
int frames_in_a_crowd(void);

#endif
