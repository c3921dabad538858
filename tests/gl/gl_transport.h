/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Cases for buffers that run with several transports: gl_transport.c is part of each program that
 * defines the transport to test. The tests load the CUDA driver that fails on demand and counts
 * calls.
 */
#ifndef GR_TESTS_GL_TRANSPORT_H
#define GR_TESTS_GL_TRANSPORT_H

#include <cuda.h>

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

/* A case for one device that draws and computes. devices_differ(): why it is skipped, or NULL. */
#define ONE_DEVICE_TEST(...) TEST_UNLESS(devices_differ(), __VA_ARGS__)
static inline const char *devices_differ(void)
{
    return fixture_cuda_device() == fixture_drawing_device()
               ? NULL
               : "CUDA computes on another device than OpenGL draws on";
}

/* A driver call, and how often it occurs in a map of 4 resources that were used before. */
struct map_call {
    const char *function;
    long calls;
};

/* A driver call that fails in a release, after so many others; one for a batch if `is_single`. */
struct release_call {
    const char *function;
    long after;
    bool is_single;
};

struct transport {
    gr_resource *(*make)(GLuint name, unsigned flags);
    const char *(*missing)(void); /* returns the reason why a case is skipped, or NULL */
    const char *first;            /* the name of the first driver function that a map calls */
    const char *last;             /* likewise for a release, if it is not a copy; or NULL */
    const char *in;               /* the name of the driver function that copies to CUDA memory */
    const char *out;              /* the name of the driver function that copies from there */
    /* The name of the driver function that frees CUDA's own memory of a resource; or NULL. */
    const char *end;
    const char *failed; /* part of the error message if `in` fails */
    const struct map_call *map_calls;
    size_t map_call_count;
    const struct release_call *release_calls;
    size_t release_call_count;
    bool release_waits; /* a release waits for the stream on the CPU */
    bool finds_storage; /* a map works after the storage was replaced by one of the same size */
};

/* The transport of the running case. */
extern const struct transport *tested;

/*
 * One entry for each OpenGL with which the transport is tested, terminated by NULL. In the cases of
 * copying_cases[], CUDA copies in the stream of the map.
 */
extern make_case *const transport_cases[], *const copying_cases[];

/* Makes no OpenGL context current; enter_context() makes the previous one current again. */
void leave_context(void);
void enter_context(void);

/* CUDA reads the pattern of this round and writes the next one, which OpenGL reads. */
void go_round(gr_resource *resource, size_t size, unsigned round);

/* Checks the number of calls of a driver function since fault->reset(). */
#define assert_calls(function, count) ck_assert_uint_eq(fault->calls(function), count)

/* Resets the counts, and makes a call fail after `after` successful ones. */
void let_fail(const char *function, CUresult code, long after);

/* Allocates page-locked memory: copies to other host memory may wait for the stream. */
unsigned char *must_pin(size_t size);

/* Maps, copies all bytes to pinned memory on the stream of the map, and releases. */
void read_on(gr_resource *resource, CUstream stream, unsigned char *to);

/*
 * Like read_on() with fx.stream, but the copy waits for a gate. If `ms` is not 0, the gate opens
 * after that time, so that a call that waits for the gate is detected and still ends.
 */
struct gate *read_behind_gate(gr_resource *resource, unsigned char *to, unsigned ms);

/* Waits for both streams. got[0] must have pattern 1, and got[1] pattern 2. Frees both. */
void assert_two_reads(unsigned char *const got[2], size_t size);

/* Lets OpenGL refuse to write to buffers and 2D textures, with GL_INVALID_ENUM. */
void opengl_refuses_data(bool refuses);

/* The number of OpenGL buffers with small names: staging buffers are among them. */
unsigned count_gl_buffers(void);

/* OpenGL writes a pattern. */
void gl_write_pattern(GLuint name, size_t size, unsigned seed);

#endif
