/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies bytes of OpenGL buffers through bindings that are restored afterwards. */
#include "gl/copy/buffer_bytes.h"

#include <epoxy/gl.h>

#include "gl/object/object.h"
#include "gl/context/saved_state.h"

static GLuint bind_object(GLuint name)
{
    return gl_bind_buffer(GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING, name);
}

bool gl_buffer_is_locked(unsigned int name)
{
    GLint mapped = GL_FALSE, access = 0;
    GLuint before = bind_object(name);
    glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_MAPPED, &mapped);
    if (mapped)
        glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_ACCESS_FLAGS, &access);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
    return mapped && !(access & GL_MAP_PERSISTENT_BIT);
}

void gl_buffer_read(unsigned int name, size_t offset, void *to, size_t size)
{
    GLuint before = bind_object(name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)offset, (GLsizeiptr)size, to);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
}

/*
 * Whether glBufferSubData can write to the buffer. Immutable storage allows this only with
 * GL_DYNAMIC_STORAGE_BIT.
 */
static bool takes_data(GLuint name, const struct gl_context *context)
{
    GLint flags = 0;
    if (!gl_buffer_is_immutable(name, context))
        return true;
    glGetBufferParameteriv(GL_COPY_READ_BUFFER, GL_BUFFER_STORAGE_FLAGS, &flags);
    return flags & GL_DYNAMIC_STORAGE_BIT;
}

/* Writes by a copy from a scratch buffer, which is possible for any storage. */
static void write_through(GLuint *scratch, size_t offset, const void *from, size_t size)
{
    if (!*scratch)
        glGenBuffers(1, scratch);
    GLuint before = gl_bind_buffer(GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER_BINDING, *scratch);
    glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)size, from, GL_STREAM_COPY);
    glCopyBufferSubData(GL_COPY_WRITE_BUFFER, GL_COPY_READ_BUFFER, 0, (GLintptr)offset,
                        (GLsizeiptr)size);
    glBindBuffer(GL_COPY_WRITE_BUFFER, before);
}

void gl_buffer_write(unsigned int name, const struct gl_context *context, size_t offset,
                     const void *from, size_t size, unsigned int *scratch)
{
    GLuint before = bind_object(name);
    if (takes_data(name, context))
        glBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)offset, (GLsizeiptr)size, from);
    else
        write_through(scratch, offset, from, size);
    glBindBuffer(GL_COPY_READ_BUFFER, before);
}
