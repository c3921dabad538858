/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * heightmap: turns a picture into a landscape. CUDA computes the terrain from the picture into an
 * OpenGL vertex buffer, and OpenGL draws the terrain with light.
 *
 *     build/examples/heightmap/heightmap examples/island.png   writes terrain.png; --help has more
 *
 * write_vertices() hands the buffer from OpenGL to CUDA and back.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/gl.h>
#include <grinterop/tensor.h>

#include "heightmap.h"
#include "examples/support/kernel_image.h"
#include "examples/support/offscreen.h"
#include "examples/support/output.h"
#include "examples/support/png_file.h"
#include "examples/support/scene.h"
#include "examples/support/session.h"
#include "examples/support/vertex.h"
#include "tools/options.h"

KERNEL_IMAGE(heightmap);

static struct options {
    const char *input, *output;
    int width, height;
    int mesh;
    double height_scale;
    double rotate;
} options = {.output = "terrain.png",
             .width = 1280,
             .height = 720,
             .mesh = 768,
             .height_scale = 0.3,
             .rotate = 30.0};

struct show {
    struct picture picture;
    struct session session;
    struct scene scene;
    struct offscreen target;
    struct terrain terrain;
    struct view view;
    CUfunction sample_picture, make_terrain;
    gr_tensor *pixels_in_cuda;
    CUdeviceptr samples; /* memory that only CUDA uses */
    unsigned char *pixels;
};

/*
 * Writes the OpenGL vertex buffer once. CUDA owns the buffer until the end of the scope, and the
 * kernel overwrites all of it.
 */
static bool write_vertices(struct show *show)
{
    GR_AUTO(gr_buffer) *buffer =
        gr_map_gl_buffer(show->scene.vertex_buffer, GR_WRITE_DISCARD, show->session.stream);
    if (!buffer)
        return failed_to("map the vertex buffer");

    CUdeviceptr vertices = gr_buffer_ptr(buffer);
    CUdeviceptr pixels = gr_tensor_get_info(show->pixels_in_cuda)->ptr;
    struct picture *picture = &show->picture;
    void *sample[] = {&pixels, &picture->width, &picture->height, &show->samples, &show->terrain};
    void *make[] = {&show->samples, &vertices, &show->terrain};
    return session_launch(&show->session, show->sample_picture, show->terrain.columns,
                          show->terrain.rows, sample) &&
           session_launch(&show->session, show->make_terrain, show->scene.columns, show->scene.rows,
                          make);
}

static bool draw_picture(struct show *show, const char *path)
{
    const struct offscreen *target = &show->target;
    if (!write_vertices(show))
        return false;
    offscreen_bind(target);
    scene_draw(&show->scene, &show->view, (float)target->width / (float)target->height);
    offscreen_read(target, show->pixels);

    /*
     * session_finish() reports a failed kernel. It does not block, since the picture is complete.
     */
    return session_finish(&show->session) &&
           output_picture(path, target->width, target->height, show->pixels);
}

/*
 * Finds the darkest and the brightest pixel. They become the lowest and the highest point, whatever
 * the contrast of the picture.
 */
static void find_range(const struct picture *picture, struct terrain *terrain)
{
    float darkest = 1.0f, brightest = 0.0f;
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    for (const uint16_t *p = picture->pixels, *end = p + 4 * count; p < end; p += 4) {
        const float luminance =
            (0.2126f * (float)p[0] + 0.7152f * (float)p[1] + 0.0722f * (float)p[2]) * (float)p[3] /
            (65535.0f * 65535.0f);
        darkest = fminf(darkest, luminance);
        brightest = fmaxf(brightest, luminance);
    }
    terrain->darkest = darkest;
    terrain->range = brightest - darkest;
    terrain->coloured = picture->coloured;
}

/* The mesh has the aspect ratio of the picture, with `mesh` samples along its longer side. */
static void choose_terrain(struct show *show)
{
    struct terrain *t = &show->terrain;
    const float width = (float)show->picture.width, height = (float)show->picture.height;
    const float longer = fmaxf(width, height);
    t->half_x = fmaxf(width / longer, 0.05f);
    t->half_z = fmaxf(height / longer, 0.05f);
    t->columns = (int)fmaxf(t->half_x * (float)options.mesh, 2.0f);
    t->rows = (int)fmaxf(t->half_z * (float)options.mesh, 2.0f);
    t->height = (float)options.height_scale;
    t->base = -0.12f;
    find_range(&show->picture, t);
}

/* Places the camera, which orbits the terrain, and the sun, which moves with the camera. */
static void choose_view(struct show *show)
{
    const float angle = (float)options.rotate * 0.01745329f;
    const float light[3] = {-0.75f, 0.52f, -0.30f}, eye[3] = {0.0f, 2.0f, 3.0f};
    const float length = sqrtf(light[0] * light[0] + light[1] * light[1] + light[2] * light[2]);
    const float c = cosf(angle), s = sinf(angle);
    struct view *view = &show->view;
    *view = (struct view){
        .eye = {c * eye[0] + s * eye[2], eye[1], c * eye[2] - s * eye[0]},
        .target = {0.0f, -0.2f, 0.0f},
        .light = {(c * light[0] + s * light[2]) / length, light[1] / length,
                  (c * light[2] - s * light[0]) / length},
        .angle = 36.0f,
    };
    memcpy(show->terrain.light, view->light, sizeof(view->light));
}

static bool load_kernels(struct show *show)
{
    struct session *s = &show->session;
    return session_kernel(s, &heightmap_image, "sample_picture", &show->sample_picture) &&
           session_kernel(s, &heightmap_image, "make_terrain", &show->make_terrain);
}

/* Copies the picture to CUDA memory: four channels of 16 bits. */
static bool upload_picture(struct show *show)
{
    const struct session *s = &show->session;
    const int64_t shape[] = {show->picture.height, show->picture.width, 4};
    const gr_tensor_desc desc =
        GR_INIT(gr_tensor_desc, .dtype = GR_DTYPE_U16, .ndim = 3, .shape = shape);
    const size_t size = (size_t)show->picture.width * (size_t)show->picture.height * 8;
    const size_t samples = (size_t)show->terrain.columns * (size_t)show->terrain.rows;
    show->pixels_in_cuda = gr_tensor_alloc(&desc, s->stream);
    if (!show->pixels_in_cuda ||
        gr_tensor_copy_from_host(show->pixels_in_cuda, show->picture.pixels, size, s->stream) !=
            GR_OK)
        return failed_to("upload the picture");
    return cuda_ok(s->cuda->MemAlloc(&show->samples, samples * sizeof(float4)),
                   "allocate memory for the heights");
}

static bool open_show(struct show *show)
{
    if (!png_file_read(options.input, &show->picture))
        return false;
    show->pixels = output_pixels(options.width, options.height);
    if (!show->pixels)
        return false;
    choose_terrain(show);
    choose_view(show);
    if (!session_open(&show->session))
        return false;
    printf("input    %s, %dx%d, %s\n", options.input, show->picture.width, show->picture.height,
           show->terrain.coloured ? "drawn in its own colours" : "coloured by height");
    return offscreen_init(&show->target, options.width, options.height) &&
           scene_init(&show->scene, show->terrain.columns + 2 * SKIRT,
                      show->terrain.rows + 2 * SKIRT) &&
           load_kernels(show) && upload_picture(show);
}

static void close_show(struct show *show)
{
    const gr_cuda_api *cuda = show->session.cuda;
    gr_tensor_free(show->pixels_in_cuda);
    if (show->samples != 0)
        cuda->MemFree(show->samples);
    scene_free(&show->scene);
    offscreen_free(&show->target);
    session_close(&show->session);
    picture_free(&show->picture);
    free(show->pixels);
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the picture of the landscape", .text = &options.output},
    {"size", 's', "WxH", "its size in pixels", .size = {&options.width, &options.height}},
    {"mesh", 'm', "N", "vertices along the longer side", .whole = {&options.mesh, 16, 2048}},
    {"height-scale", 'z', "H", "maximum height, relative to half the longer side",
     .real = {&options.height_scale, 0, 2}},
    {"rotate", 'r', "DEGREES", "rotate the camera around the terrain",
     .real = {&options.rotate, -360, 360}},
    {"FILE.png", .operand = &options.input},
    {0},
};

int main(int argc, char **argv)
{
    options_read(
        argc, argv, "heightmap", rows,
        "Turns a picture into a landscape: the brighter, the higher. CUDA computes the terrain "
        "into an OpenGL vertex buffer, OpenGL draws it into a PNG file.",
        "FILE.png may be of any kind: grey, colour, palette, up to 16 bits. " OPTIONS_CUDA_NOTES);
    if (!output_differs_from_input(options.output, options.input))
        return 2;

    struct show show = {0};
    const bool done = open_show(&show) && draw_picture(&show, options.output);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
