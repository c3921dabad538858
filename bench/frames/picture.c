/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The picture that OpenGL draws for CUDA to read: w by w pixels of four floats, the same size as
 * the mesh. OpenGL copies the picture into a buffer, and CUDA filters it into CUDA memory.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "bench/frames/glsl.h"
#include "examples/support/shader.h"
#include "bench/frames/frames.h"

GLSL(picture, vert);
GLSL(picture, frag);

bool frames_picture_open(struct frames *f)
{
    struct frames_picture *p = &f->picture;
    glGenFramebuffers(1, &p->framebuffer);
    glGenRenderbuffers(1, &p->colour);
    glGenVertexArrays(1, &p->vertex_array);
    p->program = shader_program(picture_vert.text, picture_frag.text);
    p->phase = glGetUniformLocation(p->program, "phase");
    return p->program != 0 && frames_gl_ok("prepare a picture");
}

static void end_mesh(struct frames *f)
{
    struct frames_picture *p = &f->picture;
    glDeleteBuffers(1, &p->alone);
    if (p->filtered != 0)
        f->cuda->MemFree(p->filtered);
    free(p->reference);
    free(p->result);
    p->alone = 0;
    p->filtered = 0;
    p->reference = p->result = NULL;
}

void frames_picture_close(struct frames *f)
{
    const struct frames_picture *p = &f->picture;
    end_mesh(f);
    glDeleteProgram(p->program);
    glDeleteVertexArrays(1, &p->vertex_array);
    glDeleteFramebuffers(1, &p->framebuffer);
    glDeleteRenderbuffers(1, &p->colour);
}

/* ---- A frame --------------------------------------------------------------------------------- */

/* Draws the picture. Restores the OpenGL state, since other rows draw in between. */
void frames_picture_draw(struct frames *f, unsigned name)
{
    const struct frames_picture *p = &f->picture;
    glBindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    glViewport(0, 0, f->mesh, f->mesh);
    glBindVertexArray(p->vertex_array);
    glUseProgram(p->program);
    glUniform1f(p->phase, frames_next_phase(f));
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, name);
    glReadPixels(0, 0, f->mesh, f->mesh, GL_RGBA, GL_FLOAT, NULL);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glUseProgram(f->program);
    glBindVertexArray(f->vertex_array);
    glViewport(0, 0, FRAMES_TARGET, FRAMES_TARGET);
    glBindFramebuffer(GL_FRAMEBUFFER, f->framebuffer);
}

bool frames_picture_filter(struct frames *f, CUdeviceptr pixels)
{
    int mesh = f->mesh;
    void *arguments[] = {&pixels, &f->picture.filtered, &mesh};
    const unsigned count = (unsigned)(mesh * mesh);
    return frames_cuda_ok(f,
                          f->cuda->LaunchKernel(f->filter, (count + 255) / 256, 1, 1, 256, 1, 1, 0,
                                                f->on.stream, arguments, NULL),
                          "cuLaunchKernel");
}

/* ---- Verification ---------------------------------------------------------------------------- */

static bool fetch(struct frames *f, float *into)
{
    return frames_drain(f) &&
           frames_cuda_ok(f, f->cuda->MemcpyDtoH(into, f->picture.filtered, f->bytes),
                          "cuMemcpyDtoH");
}

bool frames_picture_wrong(struct frames *f, int *wrong)
{
    const struct frames_picture *p = &f->picture;
    *wrong = 0;
    if (!fetch(f, p->result))
        return false;
    for (size_t i = 0; i < f->bytes / 16; i++)
        *wrong += memcmp(&p->result[4 * i], &p->reference[4 * i], 16) != 0;
    return true;
}

/*
 * Makes the expected result: copies the last picture to CUDA through the host, without shared
 * memory.
 */
static bool make_reference(struct frames *f)
{
    const struct frames_picture *p = &f->picture;
    f->frames_left = 1;
    frames_picture_draw(f, p->alone);
    glBindBuffer(GL_ARRAY_BUFFER, p->alone);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)f->bytes, p->result);
    return frames_gl_ok("draw the reference") &&
           frames_cuda_ok(
               f, f->cuda->MemcpyHtoDAsync(f->scratch[1], p->result, f->bytes, f->on.stream),
               "cuMemcpyHtoDAsync") &&
           frames_picture_filter(f, f->scratch[1]) && fetch(f, p->reference);
}

bool frames_picture_set_mesh(struct frames *f)
{
    struct frames_picture *p = &f->picture;
    end_mesh(f);
    glBindFramebuffer(GL_FRAMEBUFFER, p->framebuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, p->colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA32F, f->mesh, f->mesh);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, p->colour);
    glBindFramebuffer(GL_FRAMEBUFFER, f->framebuffer);
    glGenBuffers(1, &p->alone);
    glBindBuffer(GL_ARRAY_BUFFER, p->alone);
    glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)f->bytes, NULL, 0);
    p->reference = malloc(f->bytes);
    p->result = malloc(f->bytes);
    if (!p->reference || !p->result) {
        frames_set_error("out of memory");
        return false;
    }
    return frames_gl_ok("make a picture") &&
           frames_cuda_ok(f, f->cuda->MemAlloc(&p->filtered, f->bytes), "cuMemAlloc") &&
           make_reference(f);
}
