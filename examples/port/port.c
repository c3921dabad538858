/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * port: one application with an OpenGL and a Vulkan renderer, which draw the same picture. The code
 * of a frame, compute() and draw(), is independent of the renderer. Only creating objects and
 * drawing differ: port_gl.c and port_vk.c.
 *
 *     build/examples/port/port --backend gl          writes port.png; --help lists the options
 *     build/examples/port/port --backend vk          the same picture, drawn by Vulkan
 *
 * 15 lines of port_gl.c and 45 of port_vk_draw.c create, free and submit the shared resources, not
 * counting comments and blank lines. With hand-written semaphores, waits and barriers there were 13
 * and 85.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/gr.h>
#include <grinterop/submit.h>

#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "port_cuda.h"
#include "port_look.h"
#include "port_renderer.h"
#include "tools/options.h"

/* Each pixel is the mean of SCALE x SCALE drawn pixels, for antialiasing in both renderers. */
enum { SCALE = 2 };

struct options {
    const struct port_renderer *renderer;
    int width, height;
    int frames; /* 0: one picture with an unnumbered name */
    double time;
    bool validate;
    unsigned transports;
    const char *output;
};

struct show {
    struct port_cuda cuda;
    void *renderer;
    gr_resource *shared[PORT_SHARED];
    unsigned char *drawn, *pixels;
};

static void shrink(const unsigned char *drawn, int width, int height, unsigned char *pixels)
{
    const size_t pitch = 4 * SCALE * (size_t)width;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const unsigned char *from = drawn + (size_t)(SCALE * y) * pitch + 4 * SCALE * (size_t)x;
            for (int channel = 0; channel < 3; channel++) {
                unsigned sum = SCALE * SCALE / 2;
                for (int i = 0; i < SCALE * SCALE; i++)
                    sum += from[(size_t)(i / SCALE) * pitch + 4 * (size_t)(i % SCALE) +
                                (size_t)channel];
                *pixels++ = (unsigned char)(sum / (SCALE * SCALE));
            }
        }
    }
}

/* The CUDA part of a frame: CUDA owns both resources from the map to the release. */
static bool compute(const struct show *show, float time)
{
    gr_buffer *mapped[PORT_SHARED];
    if (gr_map_many(show->shared, PORT_SHARED, show->cuda.session.stream, NULL, mapped) != GR_OK)
        return failed_to("map the vertices and the texture");
    const bool done = port_cuda_launch(&show->cuda, mapped, time);
    if (gr_buffer_release_many(mapped, PORT_SHARED, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return failed_to("release the vertices and the texture");
    return done;
}

/*
 * The renderer's part: it runs after the release and before the next map. A failed submit is
 * cancelled at the end of the scope.
 */
static bool draw(const struct show *show, const struct options *options)
{
    const struct port_view view =
        port_look(SCALE * options->width, SCALE * options->height, &(struct orbit){0});
    GR_AUTO(gr_submit) *submit = gr_submit_begin(show->shared, PORT_SHARED);
    if (!submit)
        return failed_to("begin a submit");
    return options->renderer->draw(show->renderer, submit, &view, show->drawn);
}

static bool draw_frame(struct show *show, const struct options *options, float time,
                       const char *path)
{
    const int width = options->width, height = options->height;
    if (!compute(show, time) || !draw(show, options) || !port_cuda_finish(&show->cuda))
        return false;
    shrink(show->drawn, width, height, show->pixels);
    return png_file_write(path, width, height, show->pixels);
}

static bool draw_sequence(struct show *show, const struct options *options)
{
    char path[PATH_MAX];
    for (int i = 0; i < options->frames; i++) {
        if (!output_numbered(path, sizeof(path), options->output, i + 1) ||
            !draw_frame(show, options, (float)options->time + (float)i / 30.0f, path))
            return false;
        if (i == 0 || i + 1 == options->frames)
            output_report(path, options->width, options->height);
    }
    return true;
}

static bool draw_one(struct show *show, const struct options *options)
{
    if (!draw_frame(show, options, (float)options->time, options->output))
        return false;
    output_report(options->output, options->width, options->height);
    return true;
}

static bool open_show(struct show *show, const struct options *options)
{
    const size_t count = (size_t)options->width * (size_t)options->height;
    show->drawn = malloc(4 * SCALE * SCALE * count);
    show->pixels = malloc(3 * count);
    if (!show->drawn || !show->pixels) {
        fprintf(stderr, "Not enough memory for the picture: choose a smaller --size.\n");
        return false;
    }
    if (!port_cuda_open(&show->cuda))
        return false;
    show->renderer = options->renderer->open(SCALE * options->width, SCALE * options->height,
                                             options->validate, options->transports, show->shared);
    return show->renderer;
}

static bool close_show(struct show *show, const struct options *options)
{
    const bool silent = options->renderer->close(show->renderer);
    port_cuda_close(&show->cuda);
    free(show->drawn);
    free(show->pixels);
    return silent;
}

static void read_options(int argc, char **argv, struct options *o)
{
    static const struct port_renderer *const renderers[] = {&port_gl, &port_vk};
    const char *const names[] = {port_gl.name, port_vk.name, NULL};
    static const unsigned transports[] = {GR_TRANSPORT_ANY, GR_TRANSPORT_COPY};
    static const char *const transport_names[] = {"any", "copy", NULL};
    int backend = 0, transport = 0;
    const struct option_row rows[] = {
        {"backend", 'b', "NAME", "gl or vk: the renderer", .choice = {&backend, names}},
        {"output", 'o', "FILE", "the picture", .text = &o->output},
        {"size", 's', "WxH", "its size in pixels", .size = {&o->width, &o->height}},
        {"time", 't', "T", "scene time, in seconds", .real = {&o->time, -1000, 1000}},
        {"frames", 'f', "N", "a sequence, FILE-0001.png and so on, 30 pictures per second",
         .whole = {&o->frames, 1, 9999}},
        {"transport", 0, "NAME", "any: the best one; copy: through host memory",
         .choice = {&transport, transport_names}},
        {"validate", 0, NULL,
         "Vulkan: use the validation layer; the program fails if it prints a message",
         .flag = &o->validate},
        {0},
    };
    options_read(argc, argv, "port", rows,
                 "One application with an OpenGL and a Vulkan renderer, and one CUDA part, which "
                 "writes the vertices and the texture and is independent of the renderer.",
                 OPTIONS_CUDA_NOTES);
    o->renderer = renderers[backend];
    o->transports = transports[transport];
}

int main(int argc, char **argv)
{
    struct options options = {.width = 1280, .height = 720, .output = "port.png"};
    read_options(argc, argv, &options);

    struct show show = {0};
    const bool done =
        open_show(&show, &options) &&
        (options.frames > 0 ? draw_sequence(&show, &options) : draw_one(&show, &options));
    const bool silent = close_show(&show, &options);
    return done && silent ? EXIT_SUCCESS : EXIT_FAILURE;
}
