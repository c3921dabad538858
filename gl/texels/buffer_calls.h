/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies bytes between buffers and host memory. The thread waits for OpenGL. Bindings are restored;
 * an OpenGL error may be left.
 */
#ifndef GR_GL_TEXELS_BUFFER_CALLS_H
#define GR_GL_TEXELS_BUFFER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

void gl_buffer_read(unsigned int name, size_t offset, size_t size, void *to);

/*
 * `is_immutable`: glBufferStorage allocated the storage, so that it may not be writable. It is then
 * written through the buffer *scratch, which is created if it is 0, and kept for later writes.
 */
void gl_buffer_write(unsigned int name, bool is_immutable, unsigned int *scratch, size_t offset,
                     size_t size, const void *from);

#endif
