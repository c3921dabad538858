/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies between buffers and host memory, by calls of OpenGL. */
#include "gl/texels/texels.h"

#include <string.h>

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"

/* Whether the bound buffer can be mapped so. The application may map it persistently. */
static bool is_mappable(GLenum target, GLint access)
{
    GLint flags = 0, mapped = GL_FALSE;
    glGetBufferParameteriv(target, GL_BUFFER_STORAGE_FLAGS, &flags);
    glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
    return flags & access && !mapped;
}

/* Binds the scratch buffer, with new storage. Returns the target. */
static GLenum bind_scratch(const struct gl_buffer *b, struct gl_saved *saved, size_t size,
                           const void *from)
{
    if (!*b->scratch)
        glGenBuffers(1, b->scratch);
    const GLenum at = gl_bind_buffer(saved, GL_COPY_WRITE_BUFFER, *b->scratch);
    glBufferData(at, (GLsizeiptr)size, from, GL_STREAM_COPY);
    return at;
}

/* ---- Reads ----------------------------------------------------------------------------------- */

static void read_mapped(GLenum target, size_t offset, size_t size, void *to)
{
    const void *from =
        glMapBufferRange(target, (GLintptr)offset, (GLsizeiptr)size, GL_MAP_READ_BIT);
    if (!from)
        return;
    memcpy(to, from, size);
    glUnmapBuffer(target);
}

void gl_buffer_read(const struct gl_buffer *b, size_t offset, size_t size, void *to)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, b->name);
    if (!b->es) {
        glGetBufferSubData(target, (GLintptr)offset, (GLsizeiptr)size, to);
    } else if (b->is_immutable && !is_mappable(target, GL_MAP_READ_BIT)) {
        const GLenum at = bind_scratch(b, &before, size, NULL);
        glCopyBufferSubData(target, at, (GLintptr)offset, 0, (GLsizeiptr)size);
        read_mapped(at, 0, size, to);
    } else {
        read_mapped(target, offset, size, to);
    }
}

/* ---- Writes ---------------------------------------------------------------------------------- */

/*
 * Writes to the bound buffer, or leaves an OpenGL error. False if the bytes were lost meanwhile.
 * glBufferSubData may overtake earlier clears, copies and transform feedback (NVIDIA driver 580).
 */
static bool write_mapped(GLenum target, size_t offset, size_t size, const void *from)
{
    void *to = glMapBufferRange(target, (GLintptr)offset, (GLsizeiptr)size,
                                GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT);
    if (!to)
        return true;
    memcpy(to, from, size);
    return glUnmapBuffer(target);
}

void gl_buffer_write(const struct gl_buffer *b, size_t offset, size_t size, const void *from)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, b->name);
    if ((!b->is_immutable || is_mappable(target, GL_MAP_WRITE_BIT)) &&
        write_mapped(target, offset, size, from))
        return;
    /* a copy from the scratch buffer is possible for any storage */
    const GLenum at = bind_scratch(b, &before, size, from);
    glCopyBufferSubData(at, target, 0, (GLintptr)offset, (GLsizeiptr)size);
}
