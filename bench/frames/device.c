/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The basis of all rows: CUDA, headless OpenGL (possibly on another device), the kernels, and the
 * drawing of a mesh as points into a target of 512 x 512 pixels.
 */
#define _GNU_SOURCE
#include "bench/frames/frames.h"

#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "tests/support/own_egl.h"

KERNEL_IMAGE(mesh);
GLSL(mesh, vert);
GLSL(mesh, frag);

/* ---- Which devices --------------------------------------------------------------------------- */

bool frames_is_across(void)
{
    return scene.gl_ordinal != FRAMES_SOFTWARE_GL && scene.gl_ordinal != scene.on.ordinal;
}

/* ---- A frame --------------------------------------------------------------------------------- */

/*
 * The phase of a frame. Successive phases differ a lot, so that a stale or half-written mesh is
 * visible.
 */
static float phase_of(unsigned frames_left)
{
    return (float)(frames_left % FRAMES_PHASES * 23 % FRAMES_PHASES) / FRAMES_PHASES;
}

static void launch(CUdeviceptr vertices, float phase)
{
    int mesh = scene.mesh;
    void *arguments[] = {&vertices, &mesh, &phase};
    const unsigned count = (unsigned)(mesh * mesh);
    CU(LaunchKernel, scene.kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 0, scene.on.stream,
       arguments, NULL);
}

float frames_next_phase(void)
{
    scene.frames_left--;
    return phase_of(scene.frames_left);
}

void frames_launch(CUdeviceptr vertices)
{
    launch(vertices, frames_next_phase());
    if (scene.ended)
        CU(EventRecord, scene.ended[scene.launched++], scene.on.stream);
}

void frames_draw(unsigned name)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindVertexBuffer(0, name, 0, 16);
    glDrawArrays(GL_POINTS, 0, scene.mesh * scene.mesh);
    if (scene.queries)
        glQueryCounter(scene.queries[scene.drawn++], GL_TIMESTAMP);
}

void frames_compute(const struct frames_run *run, CUdeviceptr memory)
{
    (run->kind->reads ? frames_picture_filter : frames_launch)(memory);
}

void frames_paint(const struct frames_run *run, unsigned name)
{
    (run->kind->clears  ? frames_picture_clear
     : run->kind->reads ? frames_picture_draw
                        : frames_draw)(name);
}

void frames_drain(void)
{
    glFinish();
    CU(StreamSynchronize, scene.on.stream);
    glFinish();
    frames_vulkan_drain();
}

void frames_read(void)
{
    glReadPixels(0, 0, FRAMES_TARGET, FRAMES_TARGET, GL_RGBA, GL_UNSIGNED_BYTE, scene.pixels);
}

int frames_count_wrong(unsigned tolerance)
{
    int wrong = 0;
    for (size_t i = 0; i < FRAMES_PIXELS; i += 4) {
        bool same = true;
        for (size_t c = 0; c < 4; c++)
            same = same && (unsigned)abs(scene.pixels[i + c] - scene.reference[i + c]) <= tolerance;
        wrong += !same;
    }
    return wrong;
}

/* ---- A mesh ---------------------------------------------------------------------------------- */

/* Makes the expected picture of the last frame, without shared memory. */
static void make_reference(void)
{
    void *vertices = bench_alloc(scene.bytes);
    launch(scene.scratch[0], phase_of(0));
    frames_drain();
    CU(MemcpyDtoH, vertices, scene.scratch[0], scene.bytes);
    for (int i = 0; i < FRAMES_ALONE; i++) {
        scene.plain[i] = bench_gl_buffer();
        glBindBuffer(GL_ARRAY_BUFFER, scene.plain[i]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)scene.bytes, vertices, GL_STATIC_DRAW);
    }
    frames_draw(scene.plain[0]);
    frames_read();
    memcpy(scene.reference, scene.pixels, FRAMES_PIXELS);
    bench_check_gl("draw the reference");
}

void frames_begin(void)
{
    scene.mesh = (int)scene.meshes[bench_size];
    scene.bytes = (size_t)scene.mesh * (size_t)scene.mesh * 16;
    for (int i = 0; i < FRAMES_ALONE; i++)
        scene.scratch[i] = bench_cuda_alloc(scene.bytes);
    make_reference();
    frames_picture_set_mesh();
}

const char *frames_size(char text[48])
{
    const bool small = scene.bytes < 1 << 20;
    snprintf(text, 48, "%d x %d points (%g %s)", scene.mesh, scene.mesh,
             (double)scene.bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
    return text;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static void open_cuda(void)
{
    bench_device_open(&scene.on);
    CUmodule module = bench_cuda_module(&mesh_image);
    CU(ModuleGetFunction, &scene.kernel, module, "mesh");
    CU(ModuleGetFunction, &scene.filter, module, "filter");
}

static void close_software_gl(void *own)
{
    own_egl_close(own);
}

static void open_gl(void)
{
    static struct own_egl own;
    if (scene.gl_ordinal != FRAMES_SOFTWARE_GL) {
        bench_open_gl(scene.gl_ordinal);
        return;
    }
    const char *reason = own_egl_open_software(&own);
    if (reason)
        bench_fail("%s", reason);
    bench_later(close_software_gl, &own);
}

static void open_target(void)
{
    const unsigned colour = bench_gl_renderbuffer();
    glBindRenderbuffer(GL_RENDERBUFFER, colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, FRAMES_TARGET, FRAMES_TARGET);
    scene.framebuffer = bench_gl_framebuffer();
    glBindFramebuffer(GL_FRAMEBUFFER, scene.framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
    glViewport(0, 0, FRAMES_TARGET, FRAMES_TARGET);
    glClearColor(0, 0, 0, 1);

    scene.vertex_array = bench_gl_vertex_array();
    glBindVertexArray(scene.vertex_array);
    glEnableVertexAttribArray(0);
    glVertexAttribFormat(0, 4, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribBinding(0, 0);
    scene.program = bench_gl_program(mesh_vert.text, mesh_frag.text);
    glUseProgram(scene.program);
    bench_check_gl("make a target");
}

void frames_open(void)
{
    bench_at_end(bench_vk_close); /* after the end of OpenGL */
    scene.reference = bench_alloc(FRAMES_PIXELS);
    scene.pixels = bench_alloc(FRAMES_PIXELS);
    open_gl();
    open_cuda();
    open_target();
    frames_picture_open();
    if (!bench_try(frames_vulkan_open, NULL))
        snprintf(scene.no_vulkan, sizeof(scene.no_vulkan), "no Vulkan: %.380s", bench_last_error());
}

void frames_add_facts(struct bench_machine *machine)
{
    const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
    bench_add_opengl(machine);
    bench_add_fact(machine, NULL, "vulkan", "%s", frames_vulkan_describe());
    if (scene.gl_ordinal == FRAMES_SOFTWARE_GL || frames_is_across())
        bench_add_fact(machine, "devices", "devices", "CUDA computes on device %d, %s %d",
                       scene.on.ordinal,
                       frames_is_across() ? "OpenGL and Vulkan draw on device"
                                          : "OpenGL draws on the CPU, not a device:",
                       scene.gl_ordinal);
    bench_add_fact(machine, "shared", "shared", "%s",
                   shared ? shared->reason : gr_last_error()->message);
}
