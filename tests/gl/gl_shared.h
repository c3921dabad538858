/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the files of test_gl_shared: resources of the shared transport, and ways to delay
 * OpenGL.
 */
#ifndef GR_TESTS_GL_SHARED_H
#define GR_TESTS_GL_SHARED_H

#include "gl_shared_pretend.h"
#include "tests/support/shared_buffer.h"

/*
 * A case with the fixture. Each shared feature was used once before, so that the Vulkan device of
 * grinterop is already open.
 */
TCase *add_shared_case(Suite *suite, const char *name);

/* Adds the set-up and teardown of way_missing() to a case. Returns the case. */
TCase *with_ways(TCase *tcase);

/* A test is skipped if this OpenGL cannot share storage with CUDA. */
#define SHARED_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* Creates a shared buffer in the current context. */
gr_resource *must_share(size_t size, unsigned flags);

/*
 * Extensions to hide from grinterop, terminated by NULL. The OpenGL context must be new to
 * grinterop. NULL hides none.
 */
extern const char *const *denied_extensions;

/*
 * The kinds of waits between OpenGL and CUDA, for loop tests, and the extensions to hide for each
 * kind. On the software driver the kinds are simulated (gl_shared_pretend.h).
 */
struct way {
    const char *text; /* part of the description of the resource */
    const char *const *denied;
};
extern const struct way ways[];
#define WAYS 3

/*
 * In a loop test: selects the kind with this number. Returns NULL, or the reason why the case must
 * be skipped.
 */
const char *way_missing(int way);
#define WAY_TEST(...) TEST_UNLESS(way_missing(_i), __VA_ARGS__)

/* On a GPU: gives the OpenGL queue some milliseconds of work, to delay the commands that follow. */
void gl_keep_busy(void);

/* Returns a copy of a buffer. OpenGL makes the copy, in its command order. */
GLuint gl_copy_of(GLuint name, size_t size);

#endif
