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
#include "examples/support/png_file.h"
#include "examples/support/screen.h"
#include "examples/support/session.h"
#include "tools/options.h"

KERNEL_IMAGE(publish);

struct options {
    int width, height;
    int tensor_width, tensor_height;
    double time, degrees;
    const char *output;
};

struct show {
    struct session session;
    struct screen screen;
    struct easel easel;
    struct offscreen target;
    CUmodule module;
    CUfunction kernel;
    gr_tensor *tensor;
    gr_resource *texture; /* the registered texture of the easel */
    unsigned char *pixels;
};

/* Device memory with a type and a shape. */
static bool make_tensor(struct show *show, const struct options *o)
{
    const int64_t shape[] = {3, o->tensor_height, o->tensor_width};
    const gr_tensor_desc desc = GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_F16, .ndim = 3,
                                        .shape = shape, .layout = GR_LAYOUT_CHW);
    show->tensor = gr_tensor_alloc(&desc, show->session.stream);
    return show->tensor || failed_to("allocate the tensor");
}

/* In an application, a framework would compute here. */
static bool fill_tensor(struct show *show, const struct options *o)
{
    CUdeviceptr picture = gr_tensor_get_info(show->tensor)->ptr;
    int width = o->tensor_width, height = o->tensor_height;
    float time = (float)o->time;
    void *arguments[] = {&picture, &width, &height, &time};
    return cuda_ok(show->session.cuda->LaunchKernel(show->kernel, ((unsigned)width + 15) / 16,
                                                    ((unsigned)height + 15) / 16, 1, 16, 16, 1, 0,
                                                    show->session.stream, arguments, NULL),
                   "start the kernel");
}

/*
 * OpenGL owns the texture before and after: it generates the mip levels from what CUDA wrote.
 * Pictures of the easel begin with the top row, as the tensor does. If the first row were the
 * bottom row, `flip` would turn it over.
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

/* The easel has a texture of that size; its contents do not matter. */
static bool share_texture(struct show *show, const struct options *o)
{
    const struct picture empty = {.width = o->tensor_width, .height = o->tensor_height};
    if (!easel_init(&show->easel, &empty))
        return false;
    show->texture = gr_from_gl_image(show->easel.texture, GL_TEXTURE_2D, GR_SURFACE_LOAD_STORE);
    return show->texture || failed_to("register the texture with CUDA");
}

static bool open_show(struct show *show, const struct options *o)
{
    show->pixels = output_pixels(o->width, o->height);
    return show->pixels && session_open(&show->session) &&
           offscreen_init(&show->target, o->width, o->height) && screen_init(&show->screen) &&
           share_texture(show, o) && make_tensor(show, o) &&
           kernel_image_load(&publish_image, &show->module) &&
           cuda_ok(show->session.cuda->ModuleGetFunction(&show->kernel, show->module, "julia"),
                   "find the kernel");
}

static bool draw(struct show *show, const struct options *o)
{
    if (!fill_tensor(show, o) || !show_tensor(show))
        return false;
    offscreen_bind(&show->target);
    easel_draw(&show->easel, &show->screen, (float)o->width / (float)o->height, (float)o->degrees);
    offscreen_read(&show->target, show->pixels);
    if (!cuda_ok(show->session.cuda->StreamSynchronize(show->session.stream), "run the kernels") ||
        !png_file_write(o->output, o->width, o->height, show->pixels))
        return false;
    output_report(o->output, o->width, o->height);
    return true;
}

/* In reverse order: the registration must end before the texture is deleted. */
static void close_show(struct show *show)
{
    gr_tensor_free(show->tensor);
    gr_resource_free(show->texture);
    if (show->module)
        show->session.cuda->ModuleUnload(show->module);
    easel_free(&show->easel);
    screen_free(&show->screen);
    offscreen_free(&show->target);
    session_close(&show->session);
    free(show->pixels);
}

static void read_options(int argc, char **argv, struct options *o)
{
    const struct option_row rows[] = {
        {"output", 'o', "FILE", "the picture", .text = &o->output},
        {"size", 's', "WxH", "its size in pixels", .size = {&o->width, &o->height}},
        {"tensor", 0, "WxH", "the tensor's size", .size = {&o->tensor_width, &o->tensor_height}},
        {"time", 't', "T", "the moment to show, in seconds", .real = {&o->time, -1000, 1000}},
        {"angle", 'a', "A", "from where it is seen, in degrees", .real = {&o->degrees, -60, 60}},
        {0},
    };
    options_read(argc, argv, "publish", rows,
                 "CUDA makes a tensor of half floats, a plane for each colour; one call publishes "
                 "it into OpenGL's texture, which OpenGL draws into a PNG file.",
                 OPTIONS_CUDA_NOTES);
}

int main(int argc, char **argv)
{
    struct options options = {.width = 1280,
                              .height = 720,
                              .tensor_width = 1920,
                              .tensor_height = 1080,
                              .degrees = 20,
                              .output = "publish.png"};
    read_options(argc, argv, &options);
    struct show show = {0};
    const bool done = open_show(&show, &options) && draw(&show, &options);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
