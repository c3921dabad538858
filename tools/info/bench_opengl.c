/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL's part of a frame. */
#include <epoxy/gl.h>

#include "tools/info/bench.h"

static const char *const sources[2] = {
    "#version 330 core\n"
    "layout(location = 0) in vec4 vertex;\n"
    "void main() { gl_Position = vec4(vertex.xy, 0.0, 1.0); }\n",
    "#version 330 core\n"
    "out vec4 colour;\n"
    "void main() { colour = vec4(0.2, 0.6, 1.0, 1.0); }\n",
};

static bool is_fine(struct bench *bench, bool good, const char *call)
{
    if (!good && !bench->failed)
        bench->failed = call;
    return good;
}

/* It and what follows last until the process ends. */
static bool make_program(struct bench *bench)
{
    static const GLenum kinds[2] = {GL_VERTEX_SHADER, GL_FRAGMENT_SHADER};
    GLint linked = 0;
    GLuint program = glCreateProgram();
    for (int i = 0; i < 2; i++) {
        GLuint shader = glCreateShader(kinds[i]);
        glShaderSource(shader, 1, &sources[i], NULL);
        glCompileShader(shader);
        glAttachShader(program, shader);
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    glUseProgram(program);
    return is_fine(bench, linked, "glLinkProgram");
}

bool bench_opengl_open(struct bench *bench)
{
    GLuint framebuffer, pixels, array;
    if (!make_program(bench))
        return false;
    glGenFramebuffers(1, &framebuffer);
    glGenRenderbuffers(1, &pixels);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glEnableVertexAttribArray(0);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, pixels);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, BENCH_PIXELS, BENCH_PIXELS);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels);
    glViewport(0, 0, BENCH_PIXELS, BENCH_PIXELS);
    return is_fine(bench, glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE,
                   "glCheckFramebufferStatus");
}

void bench_opengl_draw(unsigned vertices)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 0, NULL);
    glDrawArrays(GL_POINTS, 0, BENCH_VERTICES);
}

bool bench_opengl_wait(struct bench *bench)
{
    glFinish();
    return is_fine(bench, glGetError() == GL_NO_ERROR, "glGetError");
}
