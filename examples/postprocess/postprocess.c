/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * postprocess: OpenGL draws a picture in a 3D scene into a texture, CUDA filters it into another
 * texture, and OpenGL shows both side by side.
 *
 *     build/examples/postprocess/postprocess examples/postprocess/lake.png out.png
 *     --help lists the options
 *
 * share_textures() and filter_run() in postprocess_filter.c hand the textures over.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "examples/support/easel.h"
#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "postprocess_filter.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "tools/options.h"

static struct options {
    const char *input, *output;
    int width, height;
    int filter; /* the filter, an enum filter_kind */
    int radius;
    double rotate;
    double split; /* the percentage of the width that stays unfiltered */
} options = {.width = 1280,
             .height = 720,
             .filter = FILTER_BLUR,
             .radius = 12,
             .rotate = 24.0,
             .split = 50.0};

struct show {
    struct picture picture;
    struct session session;
    struct offscreen target;
    struct screen screen;
    struct easel easel;
    struct filter filter;
    unsigned char *pixels;
};

static void draw_picture(const struct show *show, float rotate)
{
    const struct offscreen *target = &show->target;
    offscreen_bind(target);
    easel_draw(&show->easel, &show->screen, (float)target->width / (float)target->height, rotate);
}

static bool make_result(struct show *show)
{
    const struct offscreen *target = &show->target;
    draw_picture(show, (float)options.rotate);
    filter_resolve(&show->filter, target);
    if (!filter_run(&show->filter, (enum filter_kind)options.filter))
        return false;
    filter_show(&show->filter, &show->screen, target, (float)options.split);
    offscreen_read(target, show->pixels);

    /* Reports a failed kernel. It does not block, since the picture is complete. */
    return session_finish(&show->session) &&
           output_picture(options.output, target->width, target->height, show->pixels);
}

static bool open_show(struct show *show)
{
    if (!png_file_read(options.input, &show->picture))
        return false;
    show->pixels = output_pixels(options.width, options.height);
    if (!show->pixels)
        return false;
    if (!session_open(&show->session))
        return false;
    printf("input    %s, %dx%d\n", options.input, show->picture.width, show->picture.height);
    if (options.filter == FILTER_BLUR)
        printf("filter   blur over %d pixels each way\n", options.radius);
    else
        printf("filter   sobel\n");
    return offscreen_init(&show->target, options.width, options.height) &&
           screen_init(&show->screen) && easel_init(&show->easel, &show->picture) &&
           filter_open(&show->filter, &show->session, options.width, options.height, options.radius,
                       NULL);
}

static void close_show(struct show *show)
{
    filter_close(&show->filter);
    easel_free(&show->easel);
    screen_free(&show->screen);
    offscreen_free(&show->target);
    session_close(&show->session);
    picture_free(&show->picture);
    free(show->pixels);
}

static const char *const filters[] = {[FILTER_BLUR] = "blur", [FILTER_SOBEL] = "sobel", NULL};
static const struct option_row rows[] = {
    {"filter", 'f', "NAME", "blur or sobel", .choice = {&options.filter, filters}},
    {"radius", 'd', "N", "radius of the blur in pixels",
     .whole = {&options.radius, 0, LARGEST_RADIUS}},
    {"split", 'p', "PERCENT", "percentage of the width that stays unfiltered, from the left",
     .real = {&options.split, 0, 100}},
    {"rotate", 'r', "DEGREES", "rotate the camera around the picture",
     .real = {&options.rotate, -75, 75}},
    {"size", 's', "WxH", "the size of OUT.png in pixels",
     .size = {&options.width, &options.height}},
    {"IN.png", .operand = &options.input},
    {"OUT.png", .operand = &options.output},
    {0},
};

int main(int argc, char **argv)
{
    options_read(argc, argv, "postprocess", rows,
                 "OpenGL draws a picture in a 3D scene, CUDA filters the result from texture to "
                 "texture, and OpenGL shows both side by side.",
                 "IN.png may be of any kind: grey, colour, palette, transparent, up to 16 "
                 "bits. " OPTIONS_CUDA_NOTES);
    if (!output_differs_from_input(options.output, options.input))
        return 2;

    struct show show = {0};
    const bool done = open_show(&show) && make_result(&show);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
