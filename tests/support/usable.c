/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Uses a buffer in CUDA and OpenGL in every way, to check that an earlier failure left no trace. */
#define _GNU_SOURCE
#include "usable.h"

static const char vertex_shader[] = "#version 150\n"
                                    "in float value;\n"
                                    "flat out float level;\n"
                                    "void main() {\n"
                                    "    level = value;\n"
                                    "    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);\n"
                                    "}\n";
static const char fragment_shader[] = "#version 150\n"
                                      "flat in float level;\n"
                                      "out vec4 colour;\n"
                                      "void main() {\n"
                                      "    colour = vec4(level, 0.0, 0.0, 1.0);\n"
                                      "}\n";

static void attach_shader(GLuint program, GLenum kind, const char *source)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, NULL);
    glCompileShader(shader);
    GLint compiled = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    ck_assert_int_eq(compiled, GL_TRUE);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

static GLuint make_program(void)
{
    GLuint program = glCreateProgram();
    attach_shader(program, GL_VERTEX_SHADER, vertex_shader);
    attach_shader(program, GL_FRAGMENT_SHADER, fragment_shader);
    glBindAttribLocation(program, 0, "value");
    glLinkProgram(program);
    GLint linked = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    ck_assert_int_eq(linked, GL_TRUE);
    return program;
}

/* Draws the buffer's first float as one point and returns the resulting red value. */
static unsigned draw_point(GLuint name)
{
    GLuint program = make_program(), target = 0, frame = 0, array = 0;
    unsigned char pixel[4] = {7, 7, 7, 7};
    glGenRenderbuffers(1, &target);
    glBindRenderbuffer(GL_RENDERBUFFER, target);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 1, 1);
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glVertexAttribPointer(0, 1, GL_FLOAT, GL_FALSE, 0, NULL);
    glEnableVertexAttribArray(0);
    glUseProgram(program);
    glViewport(0, 0, 1, 1);
    glDrawArrays(GL_POINTS, 0, 1);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    glUseProgram(0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glDeleteVertexArrays(1, &array);
    glDeleteFramebuffers(1, &frame);
    glDeleteRenderbuffers(1, &target);
    glDeleteProgram(program);
    return pixel[0];
}

/*
 * NVIDIA's OpenGL opens descriptors for its first draw and keeps them; the fixture must not count
 * these descriptors.
 */
static unsigned draw_first_float(GLuint name)
{
    static bool has_drawn;
    int before = open_fds();
    unsigned red = draw_point(name);
    if (!has_drawn && fx.fds >= 0)
        fx.fds += open_fds() - before;
    has_drawn = true;
    return red;
}

void assert_resource_usable(gr_resource *resource, GLuint name)
{
    static unsigned char value;
    value++; /* detects bytes that an earlier check left */
    ck_assert(!gr_resource_get_info(resource)->closed);
    ck_assert(!gr_resource_get_info(resource)->mapped);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    ck_assert_uint_eq(gr_buffer_size(buffer), USABLE_SIZE);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), value, USABLE_SIZE, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    ck_assert(!gr_resource_get_info(resource)->mapped);
    assert_gl_bytes(name, USABLE_SIZE, value);
}

void assert_buffer_usable(GLuint name)
{
    const unsigned one = 0x3f800000; /* the bits of 1.0f */
    gr_resource *resource = must_make(gr_from_gl_buffer(name, GR_READ_WRITE));
    assert_resource_usable(resource, name);
    gr_buffer *buffer = must_make(gr_map(resource, fx.stream));
    CU(MemsetD32Async(gr_buffer_ptr(buffer), one, USABLE_SIZE / 4, fx.stream));
    assert_ok(gr_buffer_release(buffer));
    assert_ok(gr_resource_close(resource, GR_STREAM_OF_MAP));
    gr_resource_free(resource);
    ck_assert_uint_eq(draw_first_float(name), 255);
    assert_gl_clean();
}

void assert_both_ways(gr_buffer *buffer, GLuint name, size_t size, unsigned seed)
{
    ck_assert_uint_eq(gr_buffer_size(buffer), size);
    assert_cuda_pattern(buffer, seed);
    cuda_write_pattern(buffer, seed + 1);
    assert_ok(gr_buffer_release(buffer));
    assert_gl_pattern(name, size, seed + 1);
}
