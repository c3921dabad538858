/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies bytes between OpenGL buffers and host memory, in OpenGL command order. OpenGL bindings and
 * state are preserved.
 */
#ifndef GR_GL_COPY_BUFFER_BYTES_H
#define GR_GL_COPY_BUFFER_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/context/context.h"

/*
 * Whether the application has mapped the buffer non-persistently, so that OpenGL refuses other
 * access to it.
 */
bool gl_buffer_is_locked(unsigned int name);

/* Reads `size` bytes at `offset`. Waits until OpenGL has executed earlier commands. */
void gl_buffer_read(unsigned int name, size_t offset, void *to, size_t size);

/*
 * Writes `size` bytes at `offset`. Immutable storage may need a scratch buffer: it is created if
 * *scratch is 0, and kept.
 */
void gl_buffer_write(unsigned int name, const struct gl_context *context, size_t offset,
                     const void *from, size_t size, unsigned int *scratch);

#endif
