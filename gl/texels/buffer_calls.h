/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies bytes between buffers and host memory. The thread waits for OpenGL. Bindings are restored;
 * an OpenGL error may be left.
 */
#ifndef GR_GL_TEXELS_BUFFER_CALLS_H
#define GR_GL_TEXELS_BUFFER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* A buffer of the application. */
struct gl_buffer {
    unsigned int name;
    bool es;           /* the context is one of OpenGL ES */
    bool is_immutable; /* glBufferStorage allocated the storage, so that a map may be refused */
    /*
     * The bytes are then copied through this buffer, which is created if it is 0, and kept for
     * later copies.
     */
    unsigned int *scratch;
};

void gl_buffer_read(const struct gl_buffer *buffer, size_t offset, size_t size, void *to);
void gl_buffer_write(const struct gl_buffer *buffer, size_t offset, size_t size, const void *from);

#endif
