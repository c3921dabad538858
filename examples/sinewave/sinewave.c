/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * sinewave: CUDA writes a moving surface to an OpenGL vertex buffer, OpenGL draws it, and the
 * picture is saved as PNG.
 *
 *     build/examples/sinewave/sinewave   writes sinewave.png; --help lists the options
 *
 * share_vertices() and write_vertices() hand the buffer over between OpenGL and CUDA.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/gl.h>

#include "examples/support/kernel_image.h"
#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "examples/support/scene.h"
#include "examples/support/session.h"
#include "tools/options.h"

KERNEL_IMAGE(sinewave);

static struct options {
    struct output_sequence pictures;
    int mesh;
} options = {.pictures = {.output = "sinewave.png", .width = 1280, .height = 720}, .mesh = 512};

struct show {
    struct session session;
    struct scene scene;
    struct offscreen target;
    CUfunction kernel;
    gr_resource *vertices; /* scene.vertex_buffer, registered with CUDA */
    unsigned char *pixels;
};

/* Runs once: registers the OpenGL vertex buffer with CUDA. The kernel overwrites all of it. */
static bool share_vertices(struct show *show)
{
    show->vertices = gr_from_gl_buffer(show->scene.vertex_buffer, GR_WRITE_DISCARD);
    return show->vertices || failed_to("register the vertex buffer with CUDA");
}

/* Runs in each frame: CUDA owns the buffer from gr_map() to the end of the scope. */
static bool write_vertices(struct show *show, float time)
{
    GR_AUTO(gr_buffer) *buffer = gr_map(show->vertices, show->session.stream);
    if (!buffer)
        return failed_to("map the vertex buffer");

    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    int mesh = show->scene.columns;
    void *arguments[] = {&vertices, &mesh, &time};
    return session_launch(&show->session, show->kernel, mesh, mesh, arguments);
}

static bool draw_frame(void *user, float time, const char *path)
{
    struct show *show = user;
    const struct offscreen *target = &show->target;

    if (!write_vertices(show, time))
        return false;
    offscreen_bind(target);
    scene_draw(&show->scene, show->scene.surface_array, &scene_view,
               (float)target->width / (float)target->height);
    offscreen_read(target, show->pixels);

    /* Reports a failed kernel. It does not block, since the picture is complete. */
    return session_finish(&show->session) &&
           png_file_write(path, target->width, target->height, show->pixels);
}

static bool open_show(struct show *show)
{
    show->pixels = output_pixels(options.pictures.width, options.pictures.height);
    if (!show->pixels)
        return false;
    if (!session_open(&show->session) ||
        !offscreen_init(&show->target, options.pictures.width, options.pictures.height) ||
        !scene_init(&show->scene, options.mesh, options.mesh) || !share_vertices(show))
        return false;
    return session_kernel(&show->session, &sinewave_image, "sinewave", &show->kernel);
}

/* In reverse order: a registration ends before its OpenGL object. */
static void close_show(struct show *show)
{
    gr_resource_free(show->vertices);
    scene_free(&show->scene);
    offscreen_free(&show->target);
    session_close(&show->session);
    free(show->pixels);
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the picture", .text = &options.pictures.output},
    {"size", 's', "WxH", "its size in pixels",
     .size = {&options.pictures.width, &options.pictures.height}},
    {"mesh", 'm', "N", "vertices along each side of the surface",
     .whole = {&options.mesh, 2, 2048}},
    {"time", 't', "T", "scene time, in seconds", .real = {&options.pictures.time, -1000, 1000}},
    {"frames", 'f', "N", "a sequence, FILE-0001.png and so on, 30 pictures per second",
     .whole = {&options.pictures.frames, 1, 9999}},
    {0},
};

int main(int argc, char **argv)
{
    options_read(
        argc, argv, "sinewave", rows,
        "CUDA writes a moving surface to an OpenGL vertex buffer, OpenGL draws it into a PNG file.",
        OPTIONS_CUDA_NOTES);

    struct show show = {0};
    const bool done = open_show(&show) && output_sequence(&options.pictures, draw_frame, &show);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
