/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "gl/texels/buffer_calls.h"

#include <string.h>

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"

void gl_buffer_read(unsigned int name, size_t offset, size_t size, void *to)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, name);
    glGetBufferSubData(target, (GLintptr)offset, (GLsizeiptr)size, to);
}

/* Whether the bound buffer can be mapped for writing. The application may map it persistently. */
static bool is_writable(GLenum target)
{
    GLint flags = 0, mapped = GL_FALSE;
    glGetBufferParameteriv(target, GL_BUFFER_STORAGE_FLAGS, &flags);
    glGetBufferParameteriv(target, GL_BUFFER_MAPPED, &mapped);
    return flags & GL_MAP_WRITE_BIT && !mapped;
}

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

/* Writes by a copy from a scratch buffer, which is possible for any storage. */
static void write_through(GLenum target, GLuint *scratch, size_t offset, size_t size,
                          const void *from)
{
    if (!*scratch)
        glGenBuffers(1, scratch);
    GL_SAVED(before, 0);
    const GLenum at = gl_bind_buffer(&before, GL_COPY_WRITE_BUFFER, *scratch);
    glBufferData(at, (GLsizeiptr)size, from, GL_STREAM_COPY);
    glCopyBufferSubData(at, target, 0, (GLintptr)offset, (GLsizeiptr)size);
}

void gl_buffer_write(unsigned int name, bool is_immutable, unsigned int *scratch, size_t offset,
                     size_t size, const void *from)
{
    GL_SAVED(before, 0);
    const GLenum target = gl_bind_buffer(&before, GL_COPY_READ_BUFFER, name);
    if ((is_immutable && !is_writable(target)) || !write_mapped(target, offset, size, from))
        write_through(target, scratch, offset, size, from);
}
