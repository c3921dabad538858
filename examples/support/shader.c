/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Builds OpenGL programs from source text. */
#include "shader.h"

#include <stdbool.h>
#include <stdio.h>

#include <epoxy/gl.h>

/* Whether a step of the compiler succeeded. If not, prints its log. */
static bool is_done(GLuint object, GLenum status, PFNGLGETPROGRAMIVPROC get,
                    PFNGLGETPROGRAMINFOLOGPROC get_log, const char *what)
{
    GLint done = GL_FALSE;
    get(object, status, &done);
    if (done)
        return true;
    char words[1024] = "";
    get_log(object, sizeof(words), NULL, words);
    fprintf(stderr, "OpenGL cannot %s: %s\n", what, words);
    return false;
}

static GLuint compile(GLenum kind, const char *source)
{
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    if (is_done(shader, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog,
                kind == GL_VERTEX_SHADER ? "compile the vertex shader"
                                         : "compile the fragment shader"))
        return shader;
    glDeleteShader(shader);
    return 0;
}

static GLuint link_program(GLuint vertex, GLuint fragment)
{
    const GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    if (is_done(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog, "link the shaders"))
        return program;
    glDeleteProgram(program);
    return 0;
}

unsigned shader_program(const char *vertex, const char *fragment)
{
    const GLuint v = compile(GL_VERTEX_SHADER, vertex);
    const GLuint f = v != 0 ? compile(GL_FRAGMENT_SHADER, fragment) : 0;
    const GLuint program = f != 0 ? link_program(v, f) : 0;
    /* The program keeps an attached shader alive. A shader of 0 is ignored. */
    glDeleteShader(v);
    glDeleteShader(f);
    return program;
}

void shader_attribute(unsigned location, size_t vertex_size, size_t offset)
{
    glEnableVertexAttribArray(location);
    glVertexAttribPointer(location, 4, GL_FLOAT, GL_FALSE, (GLsizei)vertex_size,
                          (const void *)offset); /* NOLINT: OpenGL passes offsets as pointers */
}
