/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * sinewave: CUDA writes a moving surface to an OpenGL vertex buffer, OpenGL draws it, and the
 * picture is saved as PNG.
 *
 *     build/examples/sinewave/sinewave   writes sinewave.png; --help lists the options
 *
 * The hand-over between the two is in share_vertices() and write_vertices().
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <grinterop/gl.h>

#include "examples/support/kernel_image.h"
#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "examples/support/scene.h"
#include "examples/support/session.h"
#include "tools/options.h"

KERNEL_IMAGE(sinewave);

struct options {
    int width, height;
    int mesh;
    int frames; /* 0: one picture with an unnumbered name */
    double time;
    const char *output;
};

struct show {
    struct session session;
    struct scene scene;
    struct offscreen target;
    CUmodule module;
    CUfunction kernel;
    gr_resource *vertices; /* scene.vertex_buffer, registered with CUDA */
    unsigned char *pixels;
};

/* Once: registers the OpenGL vertex buffer with CUDA. The kernel overwrites all of it. */
static bool share_vertices(struct show *show)
{
    show->vertices = gr_from_gl_buffer(show->scene.vertex_buffer, GR_WRITE_DISCARD);
    return show->vertices || failed_to("register the vertex buffer with CUDA");
}

/* Each frame: CUDA owns the buffer from gr_map() to the end of the scope. */
static bool write_vertices(struct show *show, float time)
{
    GR_AUTO(gr_buffer) *buffer = gr_map(show->vertices, show->session.stream);
    if (!buffer)
        return failed_to("map the vertex buffer");

    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    int mesh = show->scene.columns;
    void *arguments[] = {&vertices, &mesh, &time};
    const unsigned blocks = ((unsigned)mesh + 15) / 16;
    return cuda_ok(show->session.cuda->LaunchKernel(show->kernel, blocks, blocks, 1, 16, 16, 1, 0,
                                                    show->session.stream, arguments, NULL),
                   "start the kernel");
}

static bool draw_frame(struct show *show, float time, const char *path)
{
    static const struct view view = {
        .eye = {1.35f, 1.45f, 2.6f},
        .target = {0.04f, -0.14f, 0.08f},
        .light = {-0.75f, 0.65f, -0.35f},
        .angle = 36.0f,
    };
    const struct offscreen *target = &show->target;

    if (!write_vertices(show, time))
        return false;
    offscreen_bind(target);
    scene_draw(&show->scene, &view, (float)target->width / (float)target->height);
    offscreen_read(target, show->pixels);

    /* The picture is complete, so this does not wait; it reports a failed kernel. */
    return cuda_ok(show->session.cuda->StreamSynchronize(show->session.stream), "run the kernel") &&
           png_file_write(path, target->width, target->height, show->pixels);
}

static bool draw_sequence(struct show *show, const struct options *options)
{
    char path[PATH_MAX];
    const bool progress = isatty(STDERR_FILENO);
    for (int i = 0; i < options->frames; i++) {
        if (progress)
            fprintf(stderr, "\rpicture %d of %d ", i + 1, options->frames);
        if (!output_numbered(path, sizeof(path), options->output, i + 1) ||
            !draw_frame(show, (float)options->time + (float)i / 30.0f, path))
            return false;
        if (progress)
            fprintf(stderr, "\r%40s\r", "");
        if (i == 0 || i + 1 == options->frames)
            output_report(path, options->width, options->height);
    }
    return true;
}

static bool draw_one(struct show *show, const struct options *options)
{
    if (!draw_frame(show, (float)options->time, options->output))
        return false;
    output_report(options->output, options->width, options->height);
    return true;
}

static bool open_show(struct show *show, const struct options *options)
{
    show->pixels = output_pixels(options->width, options->height);
    if (!show->pixels)
        return false;
    if (!session_open(&show->session) ||
        !offscreen_init(&show->target, options->width, options->height) ||
        !scene_init(&show->scene, options->mesh, options->mesh) || !share_vertices(show))
        return false;
    return kernel_image_load(&sinewave_image, &show->module) &&
           cuda_ok(show->session.cuda->ModuleGetFunction(&show->kernel, show->module, "sinewave"),
                   "find the kernel");
}

/* In reverse order: the registration must end before the OpenGL buffer is deleted. */
static void close_show(struct show *show)
{
    gr_resource_free(show->vertices);
    if (show->module)
        show->session.cuda->ModuleUnload(show->module);
    scene_free(&show->scene);
    offscreen_free(&show->target);
    session_close(&show->session);
    free(show->pixels);
}

static void read_options(int argc, char **argv, struct options *o)
{
    const struct option_row rows[] = {
        {"output", 'o', "FILE", "the picture", .text = &o->output},
        {"size", 's', "WxH", "its size in pixels", .size = {&o->width, &o->height}},
        {"mesh", 'm', "N", "vertices along each side of the surface", .whole = {&o->mesh, 2, 2048}},
        {"time", 't', "T", "scene time, in seconds", .real = {&o->time, -1000, 1000}},
        {"frames", 'f', "N", "a sequence, FILE-0001.png and so on, 30 pictures per second",
         .whole = {&o->frames, 1, 9999}},
        {0},
    };
    options_read(
        argc, argv, "sinewave", rows,
        "CUDA writes a moving surface to an OpenGL vertex buffer, OpenGL draws it into a PNG file.",
        OPTIONS_CUDA_NOTES);
}

int main(int argc, char **argv)
{
    struct options options = {.width = 1280, .height = 720, .mesh = 512, .output = "sinewave.png"};
    read_options(argc, argv, &options);

    struct show show = {0};
    const bool done =
        open_show(&show, &options) &&
        (options.frames > 0 ? draw_sequence(&show, &options) : draw_one(&show, &options));
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
