/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between OpenGL buffers and host memory, in OpenGL's order: what it was told before happens
 * before, what it is told afterwards happens after. OpenGL's bindings and settings stay as they
 * are.
 */
#ifndef GR_GL_COPY_BUFFER_BYTES_H
#define GR_GL_COPY_BUFFER_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/current_context.h"

/*
 * Whether the application has it mapped, not persistently, so that OpenGL lets nobody else at it.
 */
bool gl_buffer_is_locked(unsigned int name);

/* `size` bytes at `offset`. Reading waits until OpenGL has come to it. */
void gl_buffer_read(unsigned int name, size_t offset, void *to, size_t size);

/*
 * *scratch is a buffer that immutable storage needs to be written to: made where it is 0, and kept.
 */
void gl_buffer_write(unsigned int name, const struct gl_context *context, size_t offset,
                     const void *from, size_t size, unsigned int *scratch);

#endif
