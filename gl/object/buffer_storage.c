/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries buffer storage by direct state access if available, otherwise through a binding that is
 * restored afterwards.
 */
#include "gl/object/buffer_storage.h"

#include <epoxy/gl.h>

#include "gl/context/saved_state.h"

static GLint64 buffer_parameter(GLuint name, GLenum parameter, bool direct)
{
    GLint64 value = 0;
    if (direct) {
        glGetNamedBufferParameteri64v(name, parameter, &value);
        return value;
    }
    GLuint bound = gl_bind_buffer(GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER_BINDING, name);
    glGetBufferParameteri64v(GL_COPY_READ_BUFFER, parameter, &value);
    glBindBuffer(GL_COPY_READ_BUFFER, bound);
    return value;
}

size_t gl_buffer_storage(unsigned int name, bool direct)
{
    return (size_t)buffer_parameter(name, GL_BUFFER_SIZE, direct);
}

bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context)
{
    return context->storage &&
           buffer_parameter(name, GL_BUFFER_IMMUTABLE_STORAGE, context->direct) == GL_TRUE;
}
