/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The basis of all rows: CUDA, headless OpenGL (possibly on another device), the kernels, and the
 * drawing of a mesh as points into a target of 512 x 512 pixels.
 */
#define _GNU_SOURCE
#include "bench/frames/frames.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

#include "bench/frames/glsl.h"
#include "examples/support/kernel_image.h"
#include "examples/support/shader.h"

KERNEL_IMAGE(mesh);
GLSL(mesh, vert);
GLSL(mesh, frag);

/* ---- Errors: kept as the reason why a row was not measured ----------------------------------- */

static char last_words[500];

void frames_set_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_words, sizeof(last_words), format, arguments);
    va_end(arguments);
}

const char *frames_last_error(void)
{
    return last_words;
}

bool frames_print_error(bool good)
{
    if (!good && *last_words != '\0')
        fprintf(stderr, "%s: %s\n", bench_program, last_words);
    return good;
}

bool frames_cuda_ok(const struct frames *f, CUresult result, const char *call)
{
    const char *name = "unknown error";
    if (result == CUDA_SUCCESS)
        return true;
    f->cuda->GetErrorName(result, &name);
    frames_set_error("%s: %s", call, name);
    return false;
}

bool frames_grinterop_failed(const char *call)
{
    gr_error error = *gr_last_error();
    frames_set_error("%s: %s", call, error.message);
    return false;
}

bool frames_gl_ok(const char *doing)
{
    GLenum error = glGetError();
    if (error != GL_NO_ERROR)
        frames_set_error("%s: OpenGL error 0x%04x", doing, error);
    return error == GL_NO_ERROR;
}

/* ---- Which devices --------------------------------------------------------------------------- */

bool frames_parse_device(const char *text, void *frames)
{
    struct frames *f = frames;
    if (!bench_parse_device("device", text, &f->on.ordinal))
        return false;
    f->gl_ordinal = f->on.ordinal;
    return true;
}

bool frames_is_across(const struct frames *f)
{
    return f->gl_ordinal != FRAMES_SOFTWARE_GL && f->gl_ordinal != f->on.ordinal;
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

static bool launch(const struct frames *f, CUdeviceptr vertices, float phase)
{
    int mesh = f->mesh;
    void *arguments[] = {&vertices, &mesh, &phase};
    const unsigned count = (unsigned)(mesh * mesh);
    return frames_cuda_ok(f,
                          f->cuda->LaunchKernel(f->kernel, (count + 255) / 256, 1, 1, 256, 1, 1, 0,
                                                f->on.stream, arguments, NULL),
                          "cuLaunchKernel");
}

float frames_next_phase(struct frames *f)
{
    f->frames_left--;
    return phase_of(f->frames_left);
}

bool frames_launch(struct frames *f, CUdeviceptr vertices)
{
    return launch(f, vertices, frames_next_phase(f)) &&
           (!f->ended ||
            frames_cuda_ok(f, f->cuda->EventRecord(f->ended[f->launched++], f->on.stream),
                           "cuEventRecord"));
}

void frames_draw(struct frames *f, unsigned name)
{
    glClear(GL_COLOR_BUFFER_BIT);
    glBindVertexBuffer(0, name, 0, 16);
    glDrawArrays(GL_POINTS, 0, f->mesh * f->mesh);
    if (f->queries)
        glQueryCounter(f->queries[f->drawn++], GL_TIMESTAMP);
}

bool frames_drain(struct frames *f)
{
    glFinish();
    CUresult result = f->cuda->StreamSynchronize(f->on.stream);
    if (!frames_cuda_ok(f, result, "cuStreamSynchronize"))
        return false;
    glFinish();
    return frames_vulkan_drain(f);
}

void frames_read(struct frames *f)
{
    glReadPixels(0, 0, FRAMES_TARGET, FRAMES_TARGET, GL_RGBA, GL_UNSIGNED_BYTE, f->pixels);
}

int frames_count_wrong(struct frames *f, unsigned tolerance)
{
    int wrong = 0;
    for (size_t i = 0; i < FRAMES_PIXELS; i += 4) {
        bool same = true;
        for (size_t c = 0; c < 4; c++)
            same = same && (unsigned)abs(f->pixels[i + c] - f->reference[i + c]) <= tolerance;
        wrong += !same;
    }
    return wrong;
}

/* ---- A mesh ---------------------------------------------------------------------------------- */

/* Makes the expected picture of the last frame, without shared memory. */
static bool make_reference(struct frames *f)
{
    void *vertices = malloc(f->bytes);
    if (!vertices) {
        frames_set_error("out of memory");
        return false;
    }
    bool good =
        launch(f, f->scratch[0], phase_of(0)) && frames_drain(f) &&
        frames_cuda_ok(f, f->cuda->MemcpyDtoH(vertices, f->scratch[0], f->bytes), "cuMemcpyDtoH");
    if (good) {
        glGenBuffers(FRAMES_ALONE, f->plain);
        for (int i = 0; i < FRAMES_ALONE; i++) {
            glBindBuffer(GL_ARRAY_BUFFER, f->plain[i]);
            glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)f->bytes, vertices, GL_STATIC_DRAW);
        }
        frames_draw(f, f->plain[0]);
        frames_read(f);
        memcpy(f->reference, f->pixels, FRAMES_PIXELS);
        good = frames_gl_ok("draw the reference");
    }
    free(vertices);
    return good;
}

static void end_mesh(struct frames *f)
{
    glDeleteBuffers(FRAMES_ALONE, f->plain);
    for (int i = 0; i < FRAMES_ALONE; i++) {
        if (f->scratch[i] != 0)
            f->cuda->MemFree(f->scratch[i]);
        f->plain[i] = 0;
        f->scratch[i] = 0;
    }
}

bool frames_set_mesh(struct frames *f, int mesh)
{
    end_mesh(f);
    f->mesh = mesh;
    f->bytes = (size_t)mesh * (size_t)mesh * 16;
    for (int i = 0; i < FRAMES_ALONE; i++)
        if (!frames_cuda_ok(f, f->cuda->MemAlloc(&f->scratch[i], f->bytes), "cuMemAlloc"))
            return false;
    return make_reference(f) && frames_picture_set_mesh(f);
}

const char *frames_size(const struct frames *f, char text[48])
{
    const bool small = f->bytes < 1 << 20;
    snprintf(text, 48, "%d x %d points (%g %s)", f->mesh, f->mesh,
             (double)f->bytes / (small ? 1 << 10 : 1 << 20), small ? "KiB" : "MiB");
    return text;
}

/* ---- Devices --------------------------------------------------------------------------------- */

static bool find_kernels(struct frames *f)
{
    return frames_cuda_ok(f, f->cuda->ModuleGetFunction(&f->kernel, f->module, "mesh"),
                          "cuModuleGetFunction") &&
           frames_cuda_ok(f, f->cuda->ModuleGetFunction(&f->filter, f->module, "filter"),
                          "cuModuleGetFunction");
}

static bool open_cuda(struct frames *f)
{
    return bench_device_open(&f->on) && kernel_image_load(&mesh_image, &f->module) &&
           find_kernels(f);
}

static bool open_gl(struct frames *f)
{
    if (f->gl_ordinal == FRAMES_SOFTWARE_GL) {
        const char *reason = own_egl_open_software(&f->software_gl);
        if (reason)
            frames_set_error("%s", reason);
        return !reason;
    }
    f->egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = f->gl_ordinal));
    return f->egl || frames_grinterop_failed("gr_egl_create");
}

static bool open_target(struct frames *f)
{
    f->has_target = true;
    glGenRenderbuffers(1, &f->colour);
    glBindRenderbuffer(GL_RENDERBUFFER, f->colour);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, FRAMES_TARGET, FRAMES_TARGET);
    glGenFramebuffers(1, &f->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, f->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, f->colour);
    glViewport(0, 0, FRAMES_TARGET, FRAMES_TARGET);
    glClearColor(0, 0, 0, 1);

    glGenVertexArrays(1, &f->vertex_array);
    glBindVertexArray(f->vertex_array);
    glEnableVertexAttribArray(0);
    glVertexAttribFormat(0, 4, GL_FLOAT, GL_FALSE, 0);
    glVertexAttribBinding(0, 0);
    f->program = shader_program(mesh_vert.text, mesh_frag.text);
    glUseProgram(f->program);
    return f->program != 0 && frames_gl_ok("make a target");
}

bool frames_open(struct frames *f)
{
    f->cuda = gr_cuda();
    if (!f->cuda)
        return frames_grinterop_failed("gr_cuda");
    f->reference = malloc(FRAMES_PIXELS);
    f->pixels = malloc(FRAMES_PIXELS);
    if (!f->reference || !f->pixels) {
        frames_set_error("out of memory");
        return false;
    }
    if (!open_gl(f) || !open_cuda(f) || !open_target(f) || !frames_picture_open(f))
        return false;
    frames_vulkan_open(f);
    return true;
}

void frames_close(struct frames *f)
{
    frames_vulkan_close(f);
    if (f->has_target) {
        end_mesh(f);
        frames_picture_close(f);
        glDeleteProgram(f->program);
        glDeleteVertexArrays(1, &f->vertex_array);
        glDeleteFramebuffers(1, &f->framebuffer);
        glDeleteRenderbuffers(1, &f->colour);
    }
    if (f->module)
        f->cuda->ModuleUnload(f->module);
    bench_device_close(&f->on);
    gr_egl_free(f->egl);
    own_egl_close(&f->software_gl);
    gr_vk_headless_free(f->timeline_vulkan);
    free(f->reference);
    free(f->pixels);
}

void frames_add_facts(const struct frames *f, struct bench_machine *machine)
{
    char vulkan[512];
    const gr_transport_info *shared = gr_gl_probe(GR_TRANSPORT_SHARED);
    if (!shared)
        frames_grinterop_failed("gr_gl_probe");
    frames_vulkan_describe(f, vulkan, sizeof(vulkan));
    bench_add_opengl(machine);
    bench_add_fact(machine, NULL, "vulkan", "%s", vulkan);
    if (f->gl_ordinal == FRAMES_SOFTWARE_GL || frames_is_across(f))
        bench_add_fact(machine, "devices", "devices", "CUDA computes on device %d, %s %d",
                       f->on.ordinal,
                       frames_is_across(f) ? "OpenGL and Vulkan draw on device"
                                           : "OpenGL and Vulkan draw on the CPU, not a device:",
                       f->gl_ordinal);
    bench_add_fact(machine, "shared", "shared", "%s",
                   shared ? shared->reason : frames_last_error());
}
