/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Checks that an OpenGL buffer or a resource still works after a failed call: CUDA can map, write
 * and release it, and OpenGL reads and draws what CUDA wrote. The fixture must be set up.
 */
#ifndef GR_TESTS_USABLE_H
#define GR_TESTS_USABLE_H

#include "support.h"

/* The buffer size for the checks below: a multiple of 4, since OpenGL draws it as floats. */
#define USABLE_SIZE 256

/* Checks that the open, unmapped resource of a buffer can be mapped, written and released. */
void assert_resource_usable(gr_resource *resource, GLuint name);

/* Checks that the buffer can be registered, mapped, written, released, closed and drawn. */
void assert_buffer_usable(GLuint name);

/*
 * For a mapped buffer of `size` bytes: CUDA reads the pattern `seed` and writes the next one, and
 * after the release OpenGL reads that.
 */
void assert_both_ways(gr_buffer *buffer, GLuint name, size_t size, unsigned seed);

#endif
