/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * OpenGL and CUDA work is ordered without a wait on the host. OpenGL commands after a release come
 * after the work in the stream of the release, and CUDA work after a map comes after the OpenGL
 * commands before the map. Gates delay the work, so that a missing order shows as a wrong byte.
 * tests/facts has the order of streams.
 */
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SIZE (64 * 1024)

/* This delay is long enough for a missing wait to show. */
#define LATE_MS 100

/*
 * If a call waits for a gate that it must not wait for, the gate opens after this time, and the
 * case fails.
 */
#define TOO_LATE_MS 5000

/* ---- OpenGL as a reader ---------------------------------------------------------------------- */

static void assert_good(GLuint object, GLenum status, PFNGLGETPROGRAMIVPROC get,
                        PFNGLGETPROGRAMINFOLOGPROC get_log)
{
    GLint good = 0;
    get(object, status, &good);
    char text[512] = "";
    get_log(object, sizeof(text), NULL, text);
    ck_assert_msg(good, "%s", text);
}

static GLuint shader(GLenum kind, const char *source)
{
    GLuint made = glCreateShader(kind);
    glShaderSource(made, 1, &source, NULL);
    glCompileShader(made);
    assert_good(made, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog);
    return made;
}

static void link(GLuint program)
{
    glLinkProgram(program);
    assert_good(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog);
}

static GLuint copy_program(void)
{
    GLuint program = glCreateProgram();
    glAttachShader(program,
                   shader(GL_COMPUTE_SHADER,
                          "#version 430\n"
                          "layout(local_size_x = 64) in;\n"
                          "layout(std430, binding = 0) readonly buffer In { uint from[]; };\n"
                          "layout(std430, binding = 1) writeonly buffer Out { uint to[]; };\n"
                          "void main() { uint i = gl_GlobalInvocationID.x; to[i] = from[i]; }\n"));
    link(program);
    return program;
}

/* `size` is a multiple of 256. */
static void copy_by_compute(GLuint program, GLuint to, GLuint from, size_t size)
{
    glUseProgram(program);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, from);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, to);
    glDispatchCompute((GLuint)(size / 256), 1, 1);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glUseProgram(0);
}

/*
 * A context without a window has no draw framebuffer, and drawing fails until a framebuffer is
 * bound.
 */
static void give_framebuffer(void)
{
    bound_framebuffer(GL_FRAMEBUFFER);
    const GLuint colour = bound_renderbuffer();
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 4, 4);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
    ck_assert_uint_eq(glCheckFramebufferStatus(GL_FRAMEBUFFER), GL_FRAMEBUFFER_COMPLETE);
}

/* Draws `size` bytes as vertices and captures what the vertex shader received. */
static void copy_by_drawing(GLuint to, GLuint from, size_t size)
{
    static const char *const caught[] = {"seen"};
    give_framebuffer();
    GLuint program = glCreateProgram(), vao = 0;
    glAttachShader(program, shader(GL_VERTEX_SHADER,
                                   "#version 330\n"
                                   "layout(location = 0) in uint value;\n"
                                   "flat out uint seen;\n"
                                   "void main() { seen = value; gl_Position = vec4(0); }\n"));
    glTransformFeedbackVaryings(program, 1, caught, GL_INTERLEAVED_ATTRIBS);
    link(program);
    glUseProgram(program);
    glGenVertexArrays(1, &vao);
    glBindVertexArray(vao);
    glBindBuffer(GL_ARRAY_BUFFER, from);
    glVertexAttribIPointer(0, 1, GL_UNSIGNED_INT, 4, NULL);
    glEnableVertexAttribArray(0);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, to);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, (GLsizei)(size / 4));
    glEndTransformFeedback();
    glDisable(GL_RASTERIZER_DISCARD);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    glBindVertexArray(0);
    glUseProgram(0);
}

/* Starts a kernel that writes the pattern late, and releases the buffer at once. */
static void write_late(gr_resource *resource, unsigned seed)
{
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    kernel_fill_pattern(gr_buffer_ptr(buffer), SIZE, seed, fx.stream);
    assert_ok(gr_buffer_release(buffer));
}

GROUP("OpenGL reads", add_resource_case)

TEST(gl_get_buffer_after_the_release_comes_after_the_kernel)
{
    need_kernels();
    write_late(fx.resource, 1);
    assert_gl_pattern(fx.name, SIZE, 1);
}

TEST(a_draw_after_the_release_comes_after_the_kernel)
{
    need_kernels();
    GLuint seen = gl_buffer_filled(SIZE, 0);
    write_late(fx.resource, 2);
    copy_by_drawing(seen, fx.name, SIZE);
    assert_gl_pattern(seen, SIZE, 2);
}

TEST(a_compute_shader_after_the_release_comes_after_the_kernel)
{
    need_kernels();
    if (epoxy_gl_version() < 43)
        skip("compute shaders need OpenGL 4.3");
    GLuint seen = gl_buffer_filled(SIZE, 0);
    GLuint program = copy_program();
    write_late(fx.resource, 3);
    copy_by_compute(program, seen, fx.name, SIZE);
    assert_gl_pattern(seen, SIZE, 3);
}

TEST(a_gl_copy_after_the_release_comes_after_the_kernel)
{
    need_kernels();
    GLuint seen = gl_buffer_filled(SIZE, 0);
    write_late(fx.resource, 4);
    gl_copy_buffer(fx.name, seen, SIZE);
    assert_gl_pattern(seen, SIZE, 4);
}

GROUP("OpenGL writes", add_resource_case)

static void assert_cuda_copy(CUdeviceptr copy, unsigned seed)
{
    unsigned char *bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    CU(MemcpyDtoH(bytes, copy, SIZE));
    const char *difference = pattern_differs(bytes, SIZE, seed);
    free(bytes);
    assert_no_difference(difference);
}

/*
 * Maps the buffer and starts a kernel now. The kernel must come after the OpenGL commands so far.
 */
static void assert_kernel_reads(unsigned seed)
{
    CUdeviceptr copy = 0;
    CU(MemAlloc(&copy, SIZE));
    gr_buffer *buffer = must_map(fx.resource);
    kernel_copy(copy, gr_buffer_ptr(buffer), SIZE, fx.stream);
    assert_ok(gr_buffer_release(buffer));
    CU(StreamSynchronize(fx.stream));
    assert_cuda_copy(copy, seed);
    CU(MemFree(copy));
}

TEST(a_kernel_after_the_map_comes_after_earlier_dispatches)
{
    need_kernels();
    if (epoxy_gl_version() < 43)
        skip("compute shaders need OpenGL 4.3");
    GLuint other = gl_buffer_filled(SIZE, 0);
    GLuint source = gl_buffer_pattern(SIZE, 5), program = copy_program();
    for (int i = 0; i < 200; i++) {
        copy_by_compute(program, fx.name, other, SIZE);
        copy_by_compute(program, other, fx.name, SIZE);
    }
    copy_by_compute(program, fx.name, source, SIZE);
    assert_kernel_reads(5);
}

TEST(a_kernel_after_the_map_comes_after_an_earlier_draw)
{
    need_kernels();
    GLuint source = gl_buffer_pattern(SIZE, 6);
    copy_by_drawing(fx.name, source, SIZE);
    assert_kernel_reads(6);
}

/*
 * A late kernel reads the buffer. Right after the release, OpenGL overwrites the buffer by `write`.
 */
static void overwrite_after_release(void (*write)(GLuint name))
{
    GLuint name = gl_buffer_pattern(SIZE, 7);
    GR_AUTO(gr_resource) *resource = must_register(name);
    CUdeviceptr copy = 0;
    CU(MemAlloc(&copy, SIZE));
    gr_buffer *buffer = must_map(resource);
    gate_open_after(gate_put(fx.stream), LATE_MS);
    kernel_copy(copy, gr_buffer_ptr(buffer), SIZE, fx.stream);
    assert_ok(gr_buffer_release(buffer));
    write(name);
    CU(StreamSynchronize(fx.stream));
    assert_cuda_copy(copy, 7);
    assert_gl_bytes(name, SIZE, 0);
    CU(MemFree(copy));
}

static void copy_zeros(GLuint name)
{
    gl_copy_buffer(gl_buffer_filled(SIZE, 0), name, SIZE);
}

static void send_zeros(GLuint name)
{
    static const unsigned char zeros[SIZE];
    gl_write(name, zeros, SIZE);
}

TEST(a_gl_copy_after_the_release_comes_after_a_late_cuda_read)
{
    need_kernels();
    overwrite_after_release(copy_zeros);
}

TEST(gl_buffer_sub_data_after_the_release_comes_after_a_late_cuda_read)
{
    need_kernels();
    if (!gr_cuda_is_software())
        skip("NVIDIA's glBufferSubData may write at once, before pending GPU work");
    overwrite_after_release(send_zeros);
}

GROUP("the calling thread", add_resource_case)

TEST(release_does_not_block_the_thread)
{
    if (gr_cuda_is_software())
        skip("the software driver's unmap waits: OpenGL has no queue that could wait for it");
    gr_buffer *buffer = must_map(fx.resource);
    struct gate *gate = gate_open_after(gate_put(fx.stream), TOO_LATE_MS);
    fill_and_release(buffer, 17);
    ck_assert_msg(!gate_is_open(gate), "the release waited for the stream");
    gate_open(gate);
    assert_gl_bytes(fx.name, SIZE, 17);
}

GROUP("a missing wait", add_resource_case)

/*
 * The stream of the map does not wait for the work in stream B, which therefore runs after the
 * release.
 */
CHILD(forget_to_wait)
{
    fixture_setup();
    GLuint name = gl_buffer_filled(SIZE, 0);
    gr_resource *resource = must_register(name);
    gr_buffer *buffer = must_map(resource);
    CU(StreamSynchronize(fx.stream));
    struct gate *gate = gate_open_after(gate_put(fx.other), TOO_LATE_MS);
    CU(MemsetD8Async(gr_buffer_ptr(buffer), 18, SIZE, fx.other));
    assert_ok(gr_buffer_release(buffer));
    fprintf(stderr, "released\n");
    gate_open(gate);
    CUresult result = fx.cu->StreamSynchronize(fx.other);
    fprintf(stderr, "the stream continued with %d\n", result);
    return 0;
}

TEST(cuda_work_after_the_release_faults_on_the_software_driver)
{
    if (!gr_cuda_is_software())
        skip("a GPU writes to the buffer unnoticed while OpenGL has it");
    if (sanitizer())
        skip("%s handles the fault itself", sanitizer());
    char text[2048];
    int status = child_run("forget_to_wait", text, sizeof(text));
    ck_assert_msg(strstr(text, "released"), "%s", text);
    ck_assert_msg(WIFSIGNALED(status) || WEXITSTATUS(status) != 0, "the child continued: %s", text);
    ck_assert_msg(strstr(text, "is not mapped"), "no message about the buffer: %s", text);
}

START(resource_case_buffer(SIZE, 0))
