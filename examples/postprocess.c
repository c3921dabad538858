/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postprocess: OpenGL draws a picture in space into a texture, CUDA filters it into another one,
 * and OpenGL puts both side by side. The hand-over between the two is in share_textures() and
 * filter_picture().
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <epoxy/gl.h>
#include <grinterop/gl.h>
#include <grinterop/image.h>

#include "easel.h"
#include "kernel_image.h"
#include "offscreen.h"
#include "output.h"
#include "png_file.h"
#include "postprocess.h"
#include "screen.h"
#include "session.h"
#include "shader.h"
#include "tools/options.h"

KERNEL_IMAGE(postprocess);

enum filter { BLUR, SOBEL };

struct options {
    const char *input, *output;
    int width, height;
    int filter; /* an enum filter */
    int radius;
    double rotate;
    double split; /* percent of the width that stay as they were drawn */
};

/* The two textures that OpenGL and CUDA share. */
enum { DRAWN, FILTERED, SHARED };

struct show {
    struct picture picture;
    struct session session;
    struct offscreen target;
    struct screen screen;
    struct easel easel;
    struct gaussian gaussian;
    unsigned textures[SHARED];
    unsigned framebuffer; /* draws into textures[DRAWN] */
    unsigned composite;   /* the program that puts both together */
    CUmodule module;
    CUfunction blur_rows, blur_columns, sobel;
    CUdeviceptr rows;            /* plain CUDA memory: the blur after its first half */
    gr_resource *shared[SHARED]; /* the textures, as CUDA knows them */
    unsigned char *pixels;
};

static const char composite_fragment[] =
    "#version 330 core\n"
    "uniform sampler2D drawn;\n"
    "uniform sampler2D filtered;\n"
    "uniform float split;\n"
    "uniform float thick;\n"
    "out vec4 pixel;\n"
    "void main() {\n"
    "    ivec2 at = ivec2(gl_FragCoord.xy);\n"
    "    float right = gl_FragCoord.x - split;\n"
    "    vec3 colour = (right < 0.0 ? texelFetch(drawn, at, 0) : texelFetch(filtered, at, "
    "0)).rgb;\n"
    "    if (thick > 0.0) {\n"
    "        colour *= 1.0 - 0.35 * exp(-abs(right) / (3.0 * thick));\n"
    "        colour = mix(colour, vec3(0.96), clamp(thick + 0.5 - abs(right), 0.0, 1.0));\n"
    "    }\n"
    "    pixel = vec4(colour, 1.0);\n"
    "}\n";

/* CUDA reads the one, and writes all of the other through a surface, so nothing of that is kept. */
static bool share_textures(struct show *show)
{
    show->shared[DRAWN] = gr_from_gl_image(show->textures[DRAWN], GL_TEXTURE_2D, GR_READ_ONLY);
    show->shared[FILTERED] = gr_from_gl_image(show->textures[FILTERED], GL_TEXTURE_2D,
                                              GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
    return (show->shared[DRAWN] && show->shared[FILTERED]) ||
           failed_to("register the textures with CUDA");
}

/* One thread a pixel, in blocks of 32 by 8. */
static bool launch(const struct show *show, CUfunction kernel, void *arguments[])
{
    const struct session *s = &show->session;
    const unsigned across = ((unsigned)show->target.width + 31) / 32;
    const unsigned down = ((unsigned)show->target.height + 7) / 8;
    return cuda_ok(
        s->cuda->LaunchKernel(kernel, across, down, 1, 32, 8, 1, 0, s->stream, arguments, NULL),
        "start a kernel");
}

static bool run_filter(struct show *show, gr_buffer *drawn, gr_buffer *filtered, enum filter filter)
{
    CUtexObject picture = gr_buffer_texture(drawn, NULL);
    CUsurfObject out = gr_buffer_surface(filtered, 0, 0);
    if (picture == 0 || out == 0)
        return failed_to("use the textures in a kernel");

    int *width = &show->target.width, *height = &show->target.height;
    if (filter == SOBEL)
        return launch(show, show->sobel, (void *[]){&picture, &out, width, height});
    return launch(show, show->blur_rows,
                  (void *[]){&picture, &show->rows, width, height, &show->gaussian}) &&
           launch(show, show->blur_columns,
                  (void *[]){&show->rows, &out, width, height, &show->gaussian});
}

/* Both textures are CUDA's from the map to the release, and then OpenGL's again. */
static bool filter_picture(struct show *show, enum filter filter)
{
    gr_buffer *images[SHARED];
    if (gr_map_many(show->shared, SHARED, show->session.stream, NULL, images) != GR_OK)
        return failed_to("map the textures");
    const bool done = run_filter(show, images[DRAWN], images[FILTERED], filter);
    if (gr_buffer_release_many(images, SHARED, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return failed_to("release the textures");
    return done;
}

/* The picture is drawn with several samples a pixel, of which the texture gets the mean. */
static void draw_picture(const struct show *show, float rotate)
{
    const struct offscreen *target = &show->target;
    const int w = target->width, h = target->height;
    offscreen_bind(target);
    easel_draw(&show->easel, &show->screen, (float)w / (float)h, rotate);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, target->drawn);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, show->framebuffer);
    glBlitFramebuffer(0, 0, w, h, 0, 0, w, h, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

static void draw_composite(const struct show *show, float split)
{
    const struct offscreen *target = &show->target;
    const float at = roundf((float)target->width * split / 100.0f);
    const bool both = at > 0.0f && at < (float)target->width;
    for (int i = 0; i < SHARED; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, show->textures[i]);
    }
    glUseProgram(show->composite);
    glUniform1i(glGetUniformLocation(show->composite, "drawn"), DRAWN);
    glUniform1i(glGetUniformLocation(show->composite, "filtered"), FILTERED);
    glUniform1f(glGetUniformLocation(show->composite, "split"), at);
    glUniform1f(glGetUniformLocation(show->composite, "thick"),
                both ? fmaxf(1.0f, (float)target->height / 720.0f) : 0.0f);
    offscreen_bind(target);
    screen_cover(&show->screen, show->composite);
}

static bool make_result(struct show *show, const struct options *options)
{
    const struct offscreen *target = &show->target;
    draw_picture(show, (float)options->rotate);
    if (!filter_picture(show, (enum filter)options->filter))
        return false;
    draw_composite(show, (float)options->split);
    offscreen_read(target, show->pixels);

    /* The picture is there, so this waits for nothing; it reports a kernel that failed. */
    if (!cuda_ok(show->session.cuda->StreamSynchronize(show->session.stream), "run the kernels") ||
        !png_file_write(options->output, target->width, target->height, show->pixels))
        return false;
    output_report(options->output, target->width, target->height);
    return true;
}

/* The curve reaches down to about a hundredth of its height within the radius. */
static void choose_gaussian(struct gaussian *g, int radius)
{
    const double sigma = radius / 3.0;
    double weights[LARGEST_RADIUS + 1], sum = 0.0;
    for (int i = 0; i <= radius; i++) {
        weights[i] = radius > 0 ? exp(-0.5 * i * i / (sigma * sigma)) : 1.0;
        sum += i == 0 ? weights[i] : 2.0 * weights[i];
    }
    g->radius = radius;
    for (int i = 0; i <= radius; i++)
        g->weights[i] = (float)(weights[i] / sum);
}

/* Storage without contents; a texture without mip levels must not be asked for them. */
static bool make_textures(struct show *show)
{
    const int w = show->target.width, h = show->target.height;
    glGenTextures(SHARED, show->textures);
    for (int i = 0; i < SHARED; i++) {
        glBindTexture(GL_TEXTURE_2D, show->textures[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, w, h, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    }
    glGenFramebuffers(1, &show->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, show->framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                           show->textures[DRAWN], 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        fprintf(stderr,
                "OpenGL does not draw into a texture of %dx%d pixels: try a smaller --size.\n", w,
                h);
        return false;
    }
    show->composite = shader_program(screen_vertex, composite_fragment);
    return show->composite != 0;
}

static bool load_kernels(struct show *show)
{
    const gr_cuda_api *cuda = show->session.cuda;
    const size_t size =
        (size_t)show->target.width * (size_t)show->target.height * 4 * sizeof(float);
    return kernel_image_load(&postprocess_image, &show->module) &&
           cuda_ok(cuda->ModuleGetFunction(&show->blur_rows, show->module, "blur_rows"),
                   "find a kernel") &&
           cuda_ok(cuda->ModuleGetFunction(&show->blur_columns, show->module, "blur_columns"),
                   "find a kernel") &&
           cuda_ok(cuda->ModuleGetFunction(&show->sobel, show->module, "sobel"), "find a kernel") &&
           cuda_ok(cuda->MemAlloc(&show->rows, size), "allocate memory for the blur");
}

static bool open_show(struct show *show, const struct options *options)
{
    if (!png_file_read(options->input, &show->picture))
        return false;
    show->pixels = output_pixels(options->width, options->height);
    if (!show->pixels)
        return false;
    choose_gaussian(&show->gaussian, options->radius);
    if (!session_open(&show->session))
        return false;
    printf("input    %s, %dx%d\n", options->input, show->picture.width, show->picture.height);
    if (options->filter == BLUR)
        printf("filter   blur over %d pixels each way\n", options->radius);
    else
        printf("filter   sobel\n");
    return offscreen_init(&show->target, options->width, options->height) &&
           screen_init(&show->screen) && easel_init(&show->easel, &show->picture) &&
           make_textures(show) && share_textures(show) && load_kernels(show);
}

/* Backwards: what CUDA knows of the textures ends before OpenGL's textures do. */
static void close_show(struct show *show)
{
    const gr_cuda_api *cuda = show->session.cuda;
    for (int i = 0; i < SHARED; i++)
        gr_resource_free(show->shared[i]);
    if (show->rows != 0)
        cuda->MemFree(show->rows);
    if (show->module)
        cuda->ModuleUnload(show->module);
    if (show->framebuffer != 0) {
        glDeleteFramebuffers(1, &show->framebuffer);
        glDeleteTextures(SHARED, show->textures);
        glDeleteProgram(show->composite);
    }
    easel_free(&show->easel);
    screen_free(&show->screen);
    offscreen_free(&show->target);
    session_close(&show->session);
    picture_free(&show->picture);
    free(show->pixels);
}

static void read_options(int argc, char **argv, struct options *o)
{
    static const char *const filters[] = {[BLUR] = "blur", [SOBEL] = "sobel", NULL};
    const struct option_row rows[] = {
        {"filter", 'f', "NAME", "blur or sobel", .choice = {&o->filter, filters}},
        {"radius", 'd', "N", "pixels that the blur reaches each way",
         .whole = {&o->radius, 0, LARGEST_RADIUS}},
        {"split", 'p', "PERCENT",
         "how much of the width stays as it was drawn; the filter begins right of that",
         .real = {&o->split, 0, 100}},
        {"rotate", 'r', "DEGREES", "look at it from another side", .real = {&o->rotate, -75, 75}},
        {"size", 's', "WxH", "the size of OUT.png in pixels", .size = {&o->width, &o->height}},
        {"IN.png", .operand = &o->input},
        {"OUT.png", .operand = &o->output},
        {0},
    };
    options_read(argc, argv, "postprocess", rows,
                 "OpenGL draws a picture in space, CUDA filters what was drawn, from texture to "
                 "texture, and OpenGL shows both side by side.",
                 "IN.png may be of any kind: grey, colour, palette, transparent, up to 16 "
                 "bits. " OPTIONS_CUDA_NOTES);
}

int main(int argc, char **argv)
{
    struct options options = {
        .width = 1280, .height = 720, .filter = BLUR, .radius = 12, .rotate = 24.0, .split = 50.0};
    read_options(argc, argv, &options);
    if (!output_spares_input(options.output, options.input))
        return 2;

    struct show show = {0};
    const bool done = open_show(&show, &options) && make_result(&show, &options);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
