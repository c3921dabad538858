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
 * counting comments and blank lines. With hand-written semaphores, waits and barriers the two files
 * needed 13 and 85 lines.
 */
#define _GNU_SOURCE
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

/*
 * Both renderers draw SCALE times as wide and as high. Each pixel of the picture is the mean of
 * SCALE x SCALE pixels, which is antialiasing.
 */
enum { SCALE = 2 };

static struct options {
    struct output_sequence pictures;
    int backend; /* the index of the renderer in `renderers` */
    bool validate;
    int transport; /* index of `transports` */
} options = {.pictures = {.output = "port.png", .width = 1280, .height = 720}};

static const struct port_renderer *const renderers[] = {&port_gl, &port_vk};
static const unsigned transports[] = {GR_TRANSPORT_ANY, GR_TRANSPORT_COPY};

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
 * The renderer's part of a frame: it runs after the release and before the next map. A failed
 * submit is cancelled at the end of the scope.
 */
static bool draw(const struct show *show)
{
    const struct port_view view = port_look(SCALE * options.pictures.width,
                                            SCALE * options.pictures.height, &(struct orbit){0});
    GR_AUTO(gr_submit) *submit = gr_submit_begin(show->shared, PORT_SHARED);
    if (!submit)
        return failed_to("begin a submit");
    return renderers[options.backend]->draw(show->renderer, submit, &view, show->drawn);
}

static bool draw_frame(void *user, float time, const char *path)
{
    struct show *show = user;
    if (!compute(show, time) || !draw(show) || !session_finish(&show->cuda.session))
        return false;
    shrink(show->drawn, options.pictures.width, options.pictures.height, show->pixels);
    return png_file_write(path, options.pictures.width, options.pictures.height, show->pixels);
}

static bool open_show(struct show *show)
{
    const size_t count = (size_t)options.pictures.width * (size_t)options.pictures.height;
    show->drawn = malloc(4 * SCALE * SCALE * count);
    show->pixels = malloc(3 * count);
    if (!show->drawn || !show->pixels) {
        fprintf(stderr, "Not enough memory for the picture: choose a smaller --size.\n");
        return false;
    }
    if (!port_cuda_open(&show->cuda))
        return false;
    show->renderer = renderers[options.backend]->open(
        SCALE * options.pictures.width, SCALE * options.pictures.height, options.validate,
        transports[options.transport], show->shared);
    return show->renderer;
}

static bool close_show(struct show *show)
{
    const bool silent = renderers[options.backend]->close(show->renderer);
    port_cuda_close(&show->cuda);
    free(show->drawn);
    free(show->pixels);
    return silent;
}

static const char *const names[] = {"gl", "vk", NULL};
static const char *const transport_names[] = {"any", "copy", NULL};
static const struct option_row rows[] = {
    {"backend", 'b', "NAME", "gl or vk: the renderer", .choice = {&options.backend, names}},
    {"output", 'o', "FILE", "the picture", .text = &options.pictures.output},
    {"size", 's', "WxH", "its size in pixels",
     .size = {&options.pictures.width, &options.pictures.height}},
    {"time", 't', "T", "scene time, in seconds", .real = {&options.pictures.time, -1000, 1000}},
    {"frames", 'f', "N", "a sequence, FILE-0001.png and so on, 30 pictures per second",
     .whole = {&options.pictures.frames, 1, 9999}},
    {"transport", 0, "NAME", "any: the best one; copy: through host memory",
     .choice = {&options.transport, transport_names}},
    {"validate", 0, NULL,
     "Vulkan: use the validation layer; the program fails if it prints a message",
     .flag = &options.validate},
    {0},
};

int main(int argc, char **argv)
{
    options_read(argc, argv, "port", rows,
                 "One application with an OpenGL and a Vulkan renderer, and one CUDA part, which "
                 "writes the vertices and the texture and is independent of the renderer.",
                 OPTIONS_CUDA_NOTES);

    struct show show = {0};
    const bool done = open_show(&show) && output_sequence(&options.pictures, draw_frame, &show);
    const bool silent = close_show(&show);
    return done && silent ? EXIT_SUCCESS : EXIT_FAILURE;
}
