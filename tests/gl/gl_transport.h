/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cases for buffers that run with several transports: gl_transport.c is part of each program that
 * defines the transport to test. The driver is the one that fails on demand and counts calls.
 */
#ifndef GR_TESTS_GL_TRANSPORT_H
#define GR_TESTS_GL_TRANSPORT_H

#include <cuda.h>

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

/* A driver call during a map of several resources. */
struct map_call {
    const char *function;
    long calls;
    long mapped; /* after this many calls, OpenGL buffers are mapped, and must be unmapped */
};
#define NEVER_MAPPED 1000

struct transport {
    gr_resource *(*make)(GLuint name, unsigned flags);
    const char *(*missing)(void); /* why a case is skipped, or NULL */
    const char *first;            /* the first driver function that a map calls */
    const char *in;               /* copies to CUDA memory */
    const char *end;              /* ends a resource in the OpenGL context, or NULL */
    const char *failed;           /* part of the error message of such a call */
    const struct map_call *map_calls;
    size_t map_call_count;
    bool release_waits; /* waits for the stream on the CPU */
    bool finds_storage; /* works after the application stored the same size again */
};
extern const struct transport tested;

/* A case for each OpenGL that the transport is tested with, terminated by NULL. */
extern make_case *const transport_cases[];

/* Release the current OpenGL context, and make it current again. */
void leave_context(void);
void enter_context(void);

/* CUDA reads this round's pattern and writes the next one, which OpenGL reads. */
void go_round(gr_resource *resource, size_t size, unsigned round);

/* Checks the number of calls of a driver function since fault->reset(). */
#define assert_calls(function, count) ck_assert_uint_eq(fault->calls(function), count)

/* Lets a call fail after `after` successful ones; resets the counts. */
void let_fail(const char *function, CUresult code, long after);

/* Page-locked: copies to other memory may wait for the stream. */
unsigned char *must_pin(size_t size);

/* Maps, copies all bytes to pinned memory on the map's stream, and releases. */
void read_on(gr_resource *resource, CUstream stream, unsigned char *to);

/*
 * The same on fx.stream, whose copy waits for a gate. If `ms` is not 0, the gate opens after that
 * time, so that a call that waits for it is noticed and still ends.
 */
struct gate *read_behind_gate(gr_resource *resource, unsigned char *to, unsigned ms);

/* After both streams: one has read pattern 1, the other pattern 2. Frees the memory. */
void assert_two_reads(unsigned char *const got[2], size_t size);

/* OpenGL writes a pattern. */
void gl_write_pattern(GLuint name, size_t size, unsigned seed);

#endif
