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

#include "examples/support/kernel_image.h"
#include "examples/support/shader.h"

KERNEL_IMAGE(mesh);
GLSL(mesh, vert);
GLSL(mesh, frag);

struct frames_scene scene;

/* ---- Which devices --------------------------------------------------------------------------- */

bool frames_parse_device(const char *text, void *into)
{
    (void)into;
    if (!bench_parse_device("device", text, &scene.on.ordinal))
        return false;
    scene.gl_ordinal = scene.on.ordinal;
    return true;
}

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

static bool launch(CUdeviceptr vertices, float phase)
{
    int mesh = scene.mesh;
    void *arguments[] = {&vertices, &mesh, &phase};
    const unsigned count = (unsigned)(mesh * mesh);
    return CU(LaunchKernel, scene.kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 0, scene.on.stream,
              arguments, NULL);
}

float frames_next_phase(void)
{
    scene.frames_left--;
    return phase_of(scene.frames_left);
}

bool frames_launch(CUdeviceptr vertices)
{
    return launch(vertices, frames_next_phase()) &&
           (!scene.ended || CU(EventRecord, scene.ended[scene.launched++], scene.on.stream));
}

void frames_draw(unsigned name)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindVertexBuffer(0, name, 0, 16);
    glDrawArrays(GL_POINTS, 0, scene.mesh * scene.mesh);
    if (scene.queries)
        glQueryCounter(scene.queries[scene.drawn++], GL_TIMESTAMP);
}

bool frames_drain(void)
{
    glFinish();
    if (!CU(StreamSynchronize, scene.on.stream))
        return false;
    glFinish();
    return frames_vulkan_drain();
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
static bool make_reference(void)
{
    void *vertices = malloc(scene.bytes);
    if (!vertices)
        return bench_out_of_memory();
    bool good = launch(scene.scratch[0], phase_of(0)) && frames_drain() &&
                CU(MemcpyDtoH, vertices, scene.scratch[0], scene.bytes);
    if (good) {
        glGenBuffers(FRAMES_ALONE, scene.plain);
        for (int i = 0; i < FRAMES_ALONE; i++) {
            glBindBuffer(GL_ARRAY_BUFFER, scene.plain[i]);
            glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)scene.bytes, vertices, GL_STATIC_DRAW);
        }
        frames_draw(scene.plain[0]);
        frames_read();
        memcpy(scene.reference, scene.pixels, FRAMES_PIXELS);
        good = bench_gl_ok("draw the reference");
    }
    free(vertices);
    return good;
}

static void end_mesh(void)
{
    glDeleteBuffers(FRAMES_ALONE, scene.plain);
    for (int i = 0; i < FRAMES_ALONE; i++) {
        if (scene.scratch[i] != 0)
            bench_cuda->MemFree(scene.scratch[i]);
        scene.plain[i] = 0;
        scene.scratch[i] = 0;
    }
}

bool frames_set_mesh(int mesh)
{
    end_mesh();
    scene.mesh = mesh;
    scene.bytes = (size_t)mesh * (size_t)mesh * 16;
    for (int i = 0; i < FRAMES_ALONE; i++)
        if (!CU(MemAlloc, &scene.scratch[i], scene.bytes))
            return false;
    return make_reference() && frames_picture_set_mesh();
}

const char *frames_size(char text[48])
{
    const bool small = scene.bytes < 1 << 20;
    snprintf(text, 48, "%d x %d points (%g %s)", scene.mesh, scene.mesh,
             (double)scene.bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
    return text;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool open_cuda(void)
{
    return bench_device_open(&scene.on) && kernel_image_load(&mesh_image, &scene.module) &&
           CU(ModuleGetFunction, &scene.kernel, scene.module, "mesh") &&
           CU(ModuleGetFunction, &scene.filter, scene.module, "filter");
}

static bool open_gl(void)
{
    if (scene.gl_ordinal != FRAMES_SOFTWARE_GL)
        return GR_NEW(scene.on.egl, egl_create,
                      &GR_INIT(gr_egl_options, .cuda_device = scene.gl_ordinal));
    const char *reason = own_egl_open_software(&scene.software_gl);
    return !reason || bench_failed("%s", reason);
}

static bool open_target(void)
{
    scene.has_target = true;
    glGenRenderbuffers(1, &scene.colour);
    glBindRenderbuffer(GL_RENDERBUFFER, scene.colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, FRAMES_TARGET, FRAMES_TARGET);
    glGenFramebuffers(1, &scene.framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, scene.framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, scene.colour);
    glViewport(0, 0, FRAMES_TARGET, FRAMES_TARGET);
    glClearColor(0, 0, 0, 1);

    glGenVertexArrays(1, &scene.vertex_array);
    glBindVertexArray(scene.vertex_array);
    glEnableVertexAttribArray(0);
    glVertexAttribFormat(0, 4, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribBinding(0, 0);
    scene.program = shader_program(mesh_vert.text, mesh_frag.text);
    glUseProgram(scene.program);
    return scene.program != 0 && bench_gl_ok("make a target");
}

bool frames_open(void)
{
    if (!gr_cuda())
        return bench_grinterop_failed("gr_cuda");
    scene.reference = malloc(FRAMES_PIXELS);
    scene.pixels = malloc(FRAMES_PIXELS);
    if (!scene.reference || !scene.pixels)
        return bench_out_of_memory();
    if (!open_gl() || !open_cuda() || !open_target() || !frames_picture_open())
        return false;
    frames_vulkan_open();
    return true;
}

void frames_close(void)
{
    frames_vulkan_close();
    if (scene.has_target) {
        end_mesh();
        frames_picture_close();
        glDeleteProgram(scene.program);
        glDeleteVertexArrays(1, &scene.vertex_array);
        glDeleteFramebuffers(1, &scene.framebuffer);
        glDeleteRenderbuffers(1, &scene.colour);
    }
    if (scene.module)
        bench_cuda->ModuleUnload(scene.module);
    bench_device_close(&scene.on);
    own_egl_close(&scene.software_gl);
    bench_vk_close();
    free(scene.reference);
    free(scene.pixels);
}

void frames_add_facts(struct bench_machine *machine)
{
    const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
    if (!shared)
        bench_grinterop_failed("gr_gl_probe");
    bench_add_opengl(machine);
    bench_add_fact(machine, NULL, "vulkan", "%s", frames_vulkan_describe());
    if (scene.gl_ordinal == FRAMES_SOFTWARE_GL || frames_is_across())
        bench_add_fact(machine, "devices", "devices", "CUDA computes on device %d, %s %d",
                       scene.on.ordinal,
                       frames_is_across() ? "OpenGL and Vulkan draw on device"
                                          : "OpenGL and Vulkan draw on the CPU, not a device:",
                       scene.gl_ordinal);
    bench_add_fact(machine, "shared", "shared", "%s", shared ? shared->reason : bench_last_error());
}
