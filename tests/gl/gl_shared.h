/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shared by the parts of test_gl_shared: resources of the shared transport, and ways to delay
 * OpenGL.
 */
#ifndef GR_TESTS_GL_SHARED_H
#define GR_TESTS_GL_SHARED_H

#include "gl_shared_pretend.h"
#include "tests/support/shared_buffer.h"

/*
 * A case with the fixture, after each shared feature was used once: grinterop's own Vulkan device
 * stays open.
 */
TCase *add_shared_case(Suite *suite, const char *name);

/* For the start of a case: it is skipped if this OpenGL cannot share storage with CUDA. */
#define SHARED_TEST(...) TEST_UNLESS(shared_missing(), __VA_ARGS__)

/* A shared buffer in the current context. */
gr_resource *must_share(size_t size, unsigned flags);

/*
 * Extensions to hide from grinterop, terminated by NULL; the context must be new to it. NULL hides
 * none.
 */
extern const char *const *denied_extensions;

/*
 * The kinds of waits, for loop tests, and the extensions to hide for each. On the software driver
 * they are simulated (gl_shared_pretend.h).
 */
struct way {
    const char *text; /* in the resource's description */
    const char *const *denied;
};
extern const struct way ways[];
#define WAYS 3

/*
 * In a loop test: selects the kind with this number. Returns NULL, or why the case must be skipped.
 */
const char *way_missing(int way);
#define WAY_TEST(...) TEST_UNLESS(way_missing(_i), __VA_ARGS__)

/* Gives the OpenGL queue some milliseconds of work on a GPU, to delay what follows. */
void gl_keep_busy(void);

/* Copies a buffer within OpenGL, in its command order. */
GLuint gl_copy_of(GLuint name, size_t size);

#endif
