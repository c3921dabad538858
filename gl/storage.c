/* SPDX-License-Identifier: Apache-2.0 */
/* An object's storage, asked for by name where OpenGL can, else through a binding that is put back. */
#include "storage.h"

#include <stdatomic.h>

#include <epoxy/gl.h>

/* Whether objects can be asked by name: the same for all contexts of a driver that are new enough. */
static bool has_direct_access(void)
{
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (!answer) {
        bool direct =
            epoxy_gl_version() >= 45 || epoxy_has_gl_extension("GL_ARB_direct_state_access");
        answer = epoxy_is_desktop_gl() && direct ? 2 : 1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

static GLint64 buffer_parameter(GLuint name, GLenum parameter)
{
    GLint64 value = 0;
    if (has_direct_access()) {
        glGetNamedBufferParameteri64v(name, parameter, &value);
        return value;
    }
    GLint bound = 0;
    glGetIntegerv(GL_COPY_READ_BUFFER_BINDING, &bound);
    glBindBuffer(GL_COPY_READ_BUFFER, name);
    glGetBufferParameteri64v(GL_COPY_READ_BUFFER, parameter, &value);
    glBindBuffer(GL_COPY_READ_BUFFER, (GLuint)bound);
    return value;
}

size_t gl_buffer_storage(unsigned int name)
{
    return (size_t)buffer_parameter(name, GL_BUFFER_SIZE);
}

bool gl_buffer_is_immutable(unsigned int name)
{
    bool can_be = (epoxy_is_desktop_gl() && epoxy_gl_version() >= 44) ||
                  epoxy_has_gl_extension("GL_ARB_buffer_storage");
    return can_be && buffer_parameter(name, GL_BUFFER_IMMUTABLE_STORAGE) == GL_TRUE;
}
