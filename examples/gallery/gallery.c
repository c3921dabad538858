/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * gallery: one sheet with an OpenGL image of each kind that CUDA can write, level by level and
 * layer by layer, through surfaces.
 *
 *   build/examples/gallery/gallery   writes gallery.png; --help lists the options
 *
 * share_images() and paint_images() hand the images over between OpenGL and CUDA.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include <grinterop/gl.h>
#include <grinterop/image.h>

#include "examples/support/collection.h"
#include "examples/support/kernel_image.h"
#include "examples/support/output.h"
#include "examples/support/session.h"
#include "examples/support/sheet.h"
#include "tools/options.h"

KERNEL_IMAGE(gallery);

static struct options {
    const char *output;
    int shrink;
} options = {.output = "gallery.png", .shrink = 1};

struct show {
    struct session session;
    struct collection collection;
    struct sheet sheet;
    CUfunction painters[IMAGES];
    gr_resource *shared[IMAGES]; /* the images of `collection`, registered with CUDA */
    unsigned char *pixels;
};

static const char *const painter_names[IMAGES] = {
    [PLANE] = "paint_plane",        [CUBE] = "paint_face",           [MIPMAPS] = "paint_level",
    [LAYERS] = "paint_layer",       [RECTANGLE] = "paint_rectangle", [VOLUME] = "paint_volume",
    [RENDERBUFFER] = "paint_glass",
};

/* Registers the images. CUDA overwrites every image completely. */
static bool share_images(struct show *show)
{
    for (int i = 0; i < IMAGES; i++) {
        show->shared[i] = gr_from_gl_image(show->collection.names[i], image_kinds[i].target,
                                           GR_WRITE_DISCARD | GR_SURFACE_LOAD_STORE);
        if (!show->shared[i])
            return failed_to("register an image with CUDA");
    }
    return true;
}

/* Launches one thread per pixel of a level and layer. All slices of a 3D image are one surface. */
static bool paint(struct show *show, int image, gr_buffer *buffer, int level, int layer)
{
    const struct image_kind *kind = &image_kinds[image];
    const struct session *s = &show->session;
    CUsurfObject surface = gr_buffer_surface(buffer, (unsigned)level, (unsigned)layer);
    if (surface == 0)
        return failed_to("make a surface of an image");

    int width = kind->width >> level, height = kind->height >> level;
    int index = level + layer, count = kind->levels * kind->layers * kind->depth;
    void *arguments[] = {&surface, &width, &height, &index, &count};
    const unsigned across = ((unsigned)width + 31) / 32, down = ((unsigned)height + 7) / 8;
    return cuda_ok(s->cuda->LaunchKernel(show->painters[image], across, down, (unsigned)kind->depth,
                                         32, 8, 1, 0, s->stream, arguments, NULL),
                   "start a kernel");
}

static bool paint_all(struct show *show, gr_buffer *buffers[])
{
    for (int i = 0; i < IMAGES; i++)
        for (int level = 0; level < image_kinds[i].levels; level++)
            for (int layer = 0; layer < image_kinds[i].layers; layer++)
                if (!paint(show, i, buffers[i], level, layer))
                    return false;
    return true;
}

/* Paints all images. CUDA owns the images from the map to the release. */
static bool paint_images(struct show *show)
{
    gr_buffer *buffers[IMAGES];
    if (gr_map_many(show->shared, IMAGES, show->session.stream, NULL, buffers) != GR_OK)
        return failed_to("map the images");
    const bool done = paint_all(show, buffers);
    if (gr_buffer_release_many(buffers, IMAGES, GR_STREAM_OF_MAP, NULL) != GR_OK)
        return failed_to("release the images");
    return done;
}

/* Averages each square of `shrink` by `shrink` pixels into one, in place. */
static void shrink_picture(unsigned char *pixels, int shrink)
{
    const int width = SHEET_WIDTH / shrink, height = SHEET_HEIGHT / shrink;
    const int count = shrink * shrink;
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < 3 * width; i++) {
            const int left = i / 3 * shrink, channel = i % 3;
            int sum = count / 2;
            for (int part = 0; part < count; part++) {
                const int row = y * shrink + part / shrink, column = left + part % shrink;
                sum += pixels[3 * (row * SHEET_WIDTH + column) + channel];
            }
            pixels[3 * y * width + i] = (unsigned char)(sum / count);
        }
    }
}

static bool make_sheet(struct show *show)
{
    const int width = SHEET_WIDTH / options.shrink, height = SHEET_HEIGHT / options.shrink;
    if (!paint_images(show))
        return false;
    sheet_draw(&show->sheet, &show->collection);
    offscreen_read(&show->sheet.target, show->pixels);
    shrink_picture(show->pixels, options.shrink);

    /*
     * session_finish() reports a failed kernel. It does not block, since the picture is complete.
     */
    return session_finish(&show->session) &&
           output_picture(options.output, width, height, show->pixels);
}

static bool load_kernels(struct show *show)
{
    for (int i = 0; i < IMAGES; i++)
        if (!session_kernel(&show->session, &gallery_image, painter_names[i], &show->painters[i]))
            return false;
    return true;
}

/* Lists the images row by row. */
static void print_legend(void)
{
    for (int i = 0; i < IMAGES; i++) {
        const struct image_kind *kind = &image_kinds[i];
        printf("%s %s, %dx%d",
               i == PLANE    ? "above   "
               : i == LAYERS ? "below   "
                             : "        ",
               kind->name, kind->width, kind->height);
        if (kind->depth > 1)
            printf("x%d", kind->depth);
        if (kind->layers > 1)
            printf(", %d %s", kind->layers, i == CUBE ? "faces" : "layers");
        if (kind->levels > 1)
            printf(", %d levels", kind->levels);
        printf("\n");
    }
}

static bool open_show(struct show *show)
{
    show->pixels = malloc((size_t)3 * SHEET_WIDTH * SHEET_HEIGHT);
    if (!show->pixels) {
        fprintf(stderr, "Not enough memory for the picture.\n");
        return false;
    }
    if (!session_open(&show->session))
        return false;
    print_legend();
    return collection_init(&show->collection) && sheet_init(&show->sheet, &show->collection) &&
           share_images(show) && load_kernels(show);
}

/*
 * Frees everything in reverse order: the registrations must end before the OpenGL images are
 * deleted.
 */
static void close_show(struct show *show)
{
    for (int i = 0; i < IMAGES; i++)
        gr_resource_free(show->shared[i]);
    sheet_free(&show->sheet);
    collection_free(&show->collection);
    session_close(&show->session);
    free(show->pixels);
}

static const struct option_row rows[] = {
    {"output", 'o', "FILE", "the picture", .text = &options.output},
    {"shrink", 'k', "N", "make it N times smaller than 1280x720",
     .whole = {&options.shrink, 1, 16}},
    {0},
};

int main(int argc, char **argv)
{
    options_read(
        argc, argv, "gallery", rows,
        "CUDA paints an OpenGL image of each kind that it can share: 2D, cube map, mip levels, 2D "
        "array, rectangle, 3D and renderbuffer. OpenGL draws them into one PNG file.",
        OPTIONS_CUDA_NOTES);

    struct show show = {0};
    const bool done = open_show(&show) && make_sheet(&show);
    close_show(&show);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
