/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of buffers that run by several transports: gl_transport.c is part of each program that says
 * which transport it tests. The driver is the one that fails on demand, which also counts calls.
 */
#ifndef GR_TESTS_GL_TRANSPORT_H
#define GR_TESTS_GL_TRANSPORT_H

#include "tests/drivers/fault_driver.h"
#include "tests/support/support_image.h"

/* A call of the driver during a map of several resources. */
struct map_call {
    const char *function;
    long calls;
    long mapped; /* if this many or more have passed, OpenGL's buffers are mapped, and unmapped */
};
#define NEVER_MAPPED 1000

struct transport {
    gr_resource *(*make)(GLuint name, unsigned flags);
    const char *(*missing)(void); /* why a case is skipped, or NULL */
    const char *first;            /* the driver's function that a map calls first */
    const char *in;               /* that copies to CUDA's memory */
    const char *end;              /* that ends a resource in OpenGL's context, or NULL */
    const char *failed;           /* in the error of such a call */
    const struct map_call *map_calls;
    size_t map_call_count;
    bool release_waits; /* for the stream, on the CPU */
    bool finds_storage; /* of the same size that the application stored anew */
};
extern const struct transport tested;

/* A case for each OpenGL that the transport is tested with; NULL ends them. */
extern make_case *const transport_cases[];

/* The current OpenGL context is current no more, and again. */
void leave_context(void);
void enter_context(void);

/* CUDA reads the pattern of this round and writes the next one's, which OpenGL reads. */
void go_round(gr_resource *resource, size_t size, unsigned round);

/* The driver's function has been called that often since fault->reset(). */
#define assert_calls(function, count) ck_assert_uint_eq(fault->calls(function), count)

/* Its next call but `after` fails; what was counted is forgotten. */
void let_fail(const char *function, CUresult code, long after);

/* Page-locked: copies to other memory may wait for the stream at once. */
unsigned char *must_pin(size_t size);

#endif
