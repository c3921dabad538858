/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an OpenGL buffer, or a resource, is in order after a call that failed: CUDA can take it,
 * write it and give it back, and OpenGL reads and draws what CUDA wrote. The fixture must be set
 * up.
 */
#ifndef GR_TESTS_USABLE_H
#define GR_TESTS_USABLE_H

#include "support.h"

/* What the checks below need of a buffer's size: a multiple of 4, which OpenGL draws as floats. */
#define USABLE_SIZE 256

/* The open, unmapped resource of a buffer can be mapped, written and released. */
void assert_resource_usable(gr_resource *resource, GLuint name);

/* The buffer can be registered, mapped, written, released, closed and drawn. */
void assert_buffer_usable(GLuint name);

#endif
