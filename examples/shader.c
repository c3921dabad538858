/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL programs from source text.
 */
#include "shader.h"

#include <stdio.h>

#include <epoxy/gl.h>

static GLuint compile(GLenum kind, const char *source)
{
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    GLint done = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (done)
        return shader;

    char words[1024] = "";
    glGetShaderInfoLog(shader, sizeof(words), NULL, words);
    fprintf(stderr, "OpenGL does not compile the %s shader: %s\n",
            kind == GL_VERTEX_SHADER ? "vertex" : "fragment", words);
    glDeleteShader(shader);
    return 0;
}

static GLuint link_program(GLuint vertex, GLuint fragment)
{
    const GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    GLint done = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &done);
    if (done)
        return program;

    char words[1024] = "";
    glGetProgramInfoLog(program, sizeof(words), NULL, words);
    fprintf(stderr, "OpenGL does not link the shaders: %s\n", words);
    glDeleteProgram(program);
    return 0;
}

unsigned shader_program(const char *vertex, const char *fragment)
{
    const GLuint v = compile(GL_VERTEX_SHADER, vertex);
    const GLuint f = v != 0 ? compile(GL_FRAGMENT_SHADER, fragment) : 0;
    const GLuint program = f != 0 ? link_program(v, f) : 0;
    /* A shader that is attached lives on with the program; 0 is ignored. */
    glDeleteShader(v);
    glDeleteShader(f);
    return program;
}
