/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of test_gl_shared share: resources of the shared transport, and ways to make
 * OpenGL late.
 */
#ifndef GR_TESTS_GL_SHARED_H
#define GR_TESTS_GL_SHARED_H

#include "gl_shared_pretend.h"
#include "tests/support/shared_buffer.h"

/*
 * A case with the fixture, after everything that is shared was used once: grinterop's own Vulkan
 * stays open.
 */
TCase *add_shared_case(Suite *suite, const char *name);

/* At the start of a case: it is skipped where this OpenGL cannot share storage with CUDA. */
#define SHARED_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* A shared buffer in the current context. */
gr_resource *must_share(size_t size, unsigned flags);

/*
 * Extensions that grinterop is told are not there, ended by NULL; the context has to be new to it.
 * NULL: none.
 */
extern const char *const *denied_extensions;

/*
 * The kinds of waits, for loop tests: which are left when these extensions are not there. On the
 * software driver they are played (gl_shared_pretend.h).
 */
struct way {
    const char *text; /* in the resource's description */
    const char *const *denied;
};
extern const struct way ways[];
#define WAYS 3

/* In a loop test: chooses the way of this number. NULL, or why a case has to be skipped. */
const char *way_missing(int way);
#define WAY_TEST(...) TEST_UNLESS(way_missing(_i), __VA_ARGS__)

/* Gives OpenGL's queue some milliseconds of work on a GPU, so that what comes next comes late. */
void gl_keep_busy(void);

/* Copies a buffer's bytes within OpenGL, which does it when it comes to it. */
GLuint gl_copy_of(GLuint name, size_t size);

#endif
