/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * publish: a CUDA tensor of linear half floats, one plane per colour, is published to an OpenGL
 * texture by one call, which reorders, converts and encodes it in one pass. OpenGL draws the
 * texture.
 *
 *     build/examples/publish                    writes publish.png; --help lists the options
 *
 * The call is in show_tensor().
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>
#include <grinterop/publish.h>

#include "examples/support/easel.h"
#include "examples/support/kernel_image.h"
#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "tools/options.h"

KERNEL_IMAGE(publish);

static struct options {
    int width, height;
    int tensor_width, tensor_height;
    double time, degrees;
    const char *output;
} options = {.width = 1280,
             .height = 720,
             .tensor_width = 1920,
             .tensor_height = 1080,
             .degrees = 20,
             .output = "publish.png"};

struct show {
    struct session session;
    struct screen screen;
    struct easel easel;
    struct offscreen target;
    CUfunction kernel;
    gr_tensor *tensor;
    gr_resource *texture; /* the registered texture of the easel */
    unsigned char *pixels;
};

/* Makes a tensor: device memory with a type and a shape. */
static bool make_tensor(struct show *show)
{
    const int64_t shape[] = {3, options.tensor_height, options.tensor_width};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F16, .ndim = 3,
                                        .shape = shape, .layout = GR_LAYOUT_CHW);
    show->tensor = gr_tensor_create(&desc, show->session.stream);
    return show->tensor || failed_to("allocate the tensor");
}

/* Fills the tensor. In an application, a framework would compute this. */
static bool fill_tensor(struct show *show)
{
    CUdeviceptr picture = gr_tensor_get_info(show->tensor)->ptr;
    int width = options.tensor_width, height = options.tensor_height;
    float time = (float)options.time;
    void *arguments[] = {&picture, &width, &height, &time};
    return session_launch(&show->session, show->kernel, width, height, arguments);
}

/*
 * Publishes the tensor. OpenGL owns the texture before and after the call, and generates the mip
 * levels from the result. The tensor and the easel both begin with the top row, so the options do
 * not set `flip`.
 */
static bool show_tensor(struct show *show)
{
    const gr_publish_options options = GR_INIT(gr_publish_options, .srgb = true);
    if (gr_publish(show->texture, show->tensor, &options, show->session.stream) != GR_OK)
        return failed_to("publish the tensor");
    glBindTexture(GL_TEXTURE_2D, show->easel.texture);
    glGenerateMipmap(GL_TEXTURE_2D);
    return true;
}

/* Registers the texture of the easel. It is as large as the tensor and has no contents yet. */
static bool share_texture(struct show *show)
{
    const struct picture empty = {.width = options.tensor_width, .height = options.tensor_height};
    if (!easel_init(&show->easel, &empty))
        return false;
    show->texture = gr_from_gl_image(show->easel.texture, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
    return show->texture || failed_to("register the texture with CUDA");
}

static bool open_show(struct show *show)
{
    show->pixels = output_pixels(options.width, options.height);
    return show->pixels && session_open(&show->session) &&
           offscreen_init(&show->target, options.width, options.height) &&
           screen_init(&show->screen) && share_texture(show) && make_tensor(show) &&
           session_kernel(&show->session, &publish_image, "julia", &show->kernel);
}

static bool draw(struct show *show)
{
    if (!fill_tensor(show) || !show_tensor(show))
        return false;
    offscreen_bind(&show->target);
    easel_draw(&show->easel, &show->screen, (float)options.width / (float)options.height,
               (float)options.degrees);
    offscreen_read(&show->target, show->pixels);
    return session_finish(&show->session) &&
           output_picture(options.output, options.width, options.height, show->pixels);
}

/* In reverse order: a registration ends before its OpenGL object. */
static void close_show(struct show *show)
{
    gr_tensor_free(show->tensor);
    gr_resource_free(show->texture);
    easel_free(&show->easel);
    screen_free(&show->screen);
    offscreen_free(&show->target);
    session_close(&show->session);
    free(show->pixels);
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the picture", .text = &options.output},
    {"size", 's', "WxH", "its size in pixels", .size = {&options.width, &options.height}},
    {"tensor", 0, "WxH", "the tensor's size",
     .size = {&options.tensor_width, &options.tensor_height}},
    {"time", 't', "T", "the moment to show, in seconds", .real = {&options.time, -1000, 1000}},
    {"angle", 'a', "A", "from where it is seen, in degrees", .real = {&options.degrees, -60, 60}},
    {0},
};

int main(int argc, char **argv)
{
    options_read(argc, argv, "publish", rows,
                 "CUDA makes a tensor of half floats, a plane for each colour; one call publishes "
                 "it into OpenGL's texture, which OpenGL draws into a PNG file.",
                 OPTIONS_CUDA_NOTES);
    struct show show = {0};
    const bool done = open_show(&show) && draw(&show);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
