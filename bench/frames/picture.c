/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The picture that OpenGL draws for CUDA to read: w by w pixels of four floats, the same size as
 * the mesh. OpenGL copies the picture into a buffer, and CUDA filters it into CUDA memory. Or
 * OpenGL clears the buffer to one colour, for which it needs no shader.
 */
#define _GNU_SOURCE
#include <string.h>

#include <epoxy/gl.h>

#include "bench/frames/frames.h"

/* One triangle that covers the picture. */
static const char corners[] =
    "#version 450\n"
    "void main() {\n"
    "    vec2 at = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
    "    gl_Position = vec4(at, 0.5, 1.0);\n"
    "}\n";

/* Whole numbers, so that they are exact in every frame, and differ at each pixel. */
static const char colours[] =
    "#version 450\n"
    "uniform float phase;\n"
    "out vec4 pixel;\n"
    "void main() { pixel = vec4(floor(gl_FragCoord.xy), floor(phase * 61.0 + 0.5), 1.0); }\n";

void frames_picture_open(void)
{
    struct frames_picture *p = &scene.picture;
    p->framebuffer = bench_gl_framebuffer();
    p->colour = bench_gl_renderbuffer();
    p->vertex_array = bench_gl_vertex_array();
    p->program = bench_gl_program(corners, colours);
    p->phase = glGetUniformLocation(p->program, "phase");
    bench_check_gl("prepare a picture");
}

/* ---- A frame --------------------------------------------------------------------------------- */

/* Draws the picture. Restores the OpenGL state, since other rows draw in between. */
void frames_picture_draw(unsigned name)
{
    const struct frames_picture *p = &scene.picture;
    glBindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    glViewport(0, 0, scene.mesh, scene.mesh);
    glBindVertexArray(p->vertex_array);
    glUseProgram(p->program);
    glUniform1f(p->phase, frames_next_phase());
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
    glReadPixels(0, 0, scene.mesh, scene.mesh, GL_RGBA, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glUseProgram(scene.program);
    glBindVertexArray(scene.vertex_array);
    glViewport(0, 0, FRAMES_TARGET, FRAMES_TARGET);
    glBindFramebuffer(GL_FRAMEBUFFER, scene.framebuffer);
}

void frames_picture_clear(unsigned name)
{
    const float phase = frames_next_phase(), colour[] = {phase, 1 - phase, 0.25f, 1};
    glBindBuffer(GL_ARRAY_BUFFER, name);
    glClearBufferSubData(GL_ARRAY_BUFFER, GL_RGBA32F, 0, (GLsizeiptr)scene.bytes, GL_RGBA, GL_FLOAT,
                         colour);
}

void frames_picture_filter(CUdeviceptr pixels)
{
    int mesh = scene.mesh;
    void *arguments[] = {&pixels, &scene.picture.filtered, &mesh};
    const unsigned count = (unsigned)(mesh * mesh);
    CU(LaunchKernel, scene.filter, (count + 255) / 256, 1, 1, 256, 1, 1, 0, scene.on.stream,
       arguments, NULL);
}

/* ---- Verification ---------------------------------------------------------------------------- */

static void fetch(float *into)
{
    frames_drain();
    CU(MemcpyDtoH, into, scene.picture.filtered, scene.bytes);
}

int frames_picture_wrong(bool is_cleared)
{
    const struct frames_picture *p = &scene.picture;
    const float *reference = is_cleared ? p->cleared : p->reference;
    int wrong = 0;
    fetch(p->result);
    for (size_t i = 0; i < scene.bytes / 16; i++)
        wrong += memcmp(&p->result[4 * i], &reference[4 * i], 16) != 0;
    return wrong;
}

/*
 * Makes the expected result: copies the last picture to CUDA through the host, without shared
 * memory.
 */
static void make_reference(void (*paint)(unsigned name), float *reference)
{
    const struct frames_picture *p = &scene.picture;
    scene.frames_left = 1;
    paint(p->alone);
    glBindBuffer(GL_ARRAY_BUFFER, p->alone);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)scene.bytes, p->result);
    bench_check_gl("draw the reference");
    CU(MemcpyHtoDAsync, scene.scratch[1], p->result, scene.bytes, scene.on.stream);
    frames_picture_filter(scene.scratch[1]);
    fetch(reference);
}

void frames_picture_set_mesh(void)
{
    struct frames_picture *p = &scene.picture;
    glBindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, p->colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA32F, scene.mesh, scene.mesh);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, p->colour);
    glBindFramebuffer(GL_FRAMEBUFFER, scene.framebuffer);
    p->alone = bench_gl_buffer();
    glBindBuffer(GL_ARRAY_BUFFER, p->alone);
    glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)scene.bytes, NULL, 0);
    p->reference = bench_alloc(scene.bytes);
    p->cleared = bench_alloc(scene.bytes);
    p->result = bench_alloc(scene.bytes);
    p->filtered = bench_cuda_alloc(scene.bytes);
    bench_check_gl("make a picture");
    make_reference(frames_picture_draw, p->reference);
    make_reference(frames_picture_clear, p->cleared);
}
