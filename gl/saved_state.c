/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending errors of OpenGL. It has no call that puts one back, so the same mistake is made again.
 */
#include "gl/saved_state.h"

#include <stddef.h>
#include <stdint.h>

#include <epoxy/gl.h>

/* A context that was lost gives errors without an end. */
#define MOST_ERRORS 16

unsigned int gl_errors_take(void)
{
    GLenum first = glGetError();
    for (int i = 0; first != GL_NO_ERROR && i < MOST_ERRORS && glGetError() != GL_NO_ERROR; i++)
        continue;
    return first;
}

void gl_errors_begin(struct gl_errors *errors)
{
    errors->before = gl_errors_take();
}

static void run_out_of_memory(void)
{
    GLuint name;
    glCreateBuffers(1, &name);
    glNamedBufferData(name, PTRDIFF_MAX, NULL, GL_STATIC_DRAW);
    glDeleteBuffers(1, &name);
}

static void use_incomplete_framebuffer(void)
{
    GLuint names[2];
    glCreateFramebuffers(2, names);
    glBlitNamedFramebuffer(names[0], names[1], 0, 0, 1, 1, 0, 0, 1, 1, GL_COLOR_BUFFER_BIT,
                           GL_NEAREST);
    glDeleteFramebuffers(2, names);
}

void gl_errors_end(const struct gl_errors *errors)
{
    gl_errors_take();
    switch (errors->before) {
    case GL_INVALID_ENUM:
        glHint(GL_NONE, GL_NONE);
        break;
    case GL_INVALID_VALUE:
        glDeleteBuffers(-1, NULL);
        break;
    case GL_INVALID_OPERATION:
        glUnmapNamedBuffer(0);
        break;
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        use_incomplete_framebuffer();
        break;
    case GL_OUT_OF_MEMORY:
        run_out_of_memory();
        break;
    default: /* a lost context says so by itself */
        break;
    }
}

const char *gl_error_name(unsigned int error)
{
    switch (error) {
    case GL_NO_ERROR:
        return "GL_NO_ERROR";
    case GL_INVALID_ENUM:
        return "GL_INVALID_ENUM";
    case GL_INVALID_VALUE:
        return "GL_INVALID_VALUE";
    case GL_INVALID_OPERATION:
        return "GL_INVALID_OPERATION";
    case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "GL_INVALID_FRAMEBUFFER_OPERATION";
    case GL_OUT_OF_MEMORY:
        return "GL_OUT_OF_MEMORY";
    case GL_CONTEXT_LOST:
        return "GL_CONTEXT_LOST";
    default:
        return "an unknown error of OpenGL";
    }
}
