/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies the pixels of a registered image between OpenGL and the pages (gl_image.h). The image may
 * have new storage since its registration, and it may be registered with a target that is not the
 * target of its texture. So only the part that exists in both OpenGL and the pages is copied, level
 * by level.
 */
#include "softcuda/driver/graphics/gl_image.h"

#include <epoxy/gl.h>

#include <stdlib.h>
#include <string.h>

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

size_t soft_gl_image_slice(const soft_gl_image *image, const soft_gl_image_level *level)
{
    return (size_t)level->width * level->height * image->element;
}

/* The number of slices after those that precede a texture view in its original. */
static unsigned reachable(const soft_gl_image *image, const soft_gl_image_level *level)
{
    const unsigned before = (unsigned)image->view.first_layer;
    return level->slices > before ? level->slices - before : 0;
}

/* The offset of a face, or of the first slice. */
static size_t offset_of(const soft_gl_image *image, const soft_gl_image_level *level, unsigned face)
{
    const size_t slice = (unsigned)image->view.first_layer + face;
    return level->offset + slice * soft_gl_image_slice(image, level);
}

/*
 * The part of a level or cube face that exists in both OpenGL and the pages; all 0 if the type of
 * the OpenGL storage has changed.
 */
static soft_gl_level common_part(const soft_gl_image *image, const soft_gl_image_level *level,
                                 const soft_gl_level *theirs)
{
    if (soft_gl_format_of(theirs->internal) != image->format || theirs->multisampled)
        return (soft_gl_level){0};
    return (soft_gl_level){.width = smaller(level->width, theirs->width),
                           .height = smaller(level->height, theirs->height),
                           .slices = smaller(reachable(image, level), theirs->slices)};
}

/*
 * CUDA treats cube faces as slices. An image registered with another target may have fewer faces.
 */
static unsigned faces_of(const soft_gl_pixels *pixels, const soft_gl_image *image,
                         const soft_gl_image_level *level)
{
    return pixels->target == GL_TEXTURE_CUBE_MAP ? smaller(6, reachable(image, level)) : 1;
}

static void finish(const soft_gl_image *image, unsigned char *elements, size_t size)
{
    if (!image->format->zero_fourth)
        return;
    size_t channel = image->element / 4;
    for (size_t at = 3 * channel; at < size; at += image->element)
        memset(elements + at, 0, channel);
}

/*
 * Reads the level into a temporary copy, because old OpenGL versions can only read a whole level.
 */
static CUresult read_part(soft_gl_image *image, soft_gl_pixels *pixels, unsigned l, unsigned face,
                          const soft_gl_level *theirs, const soft_gl_level *part)
{
    const soft_gl_image_level *level = &image->levels[l];
    size_t their_row = (size_t)theirs->width * image->element;
    size_t our_row = (size_t)level->width * image->element;
    unsigned char *whole = malloc(their_row * theirs->height * theirs->slices);
    SOFT_FAIL_IF(!whole, CUDA_ERROR_OUT_OF_MEMORY);
    soft_gl_pixels_read(pixels, l, face, image->format, whole);
    finish(image, whole, their_row * theirs->height * theirs->slices);
    unsigned char *to = image->gl.fetched + offset_of(image, level, face);
    for (unsigned z = 0; z < part->slices; z++)
        for (unsigned y = 0; y < part->height; y++)
            memcpy(to + z * soft_gl_image_slice(image, level) + y * our_row,
                   whole + ((size_t)z * theirs->height + y) * their_row,
                   part->width * image->element);
    free(whole);
    return CUDA_SUCCESS;
}

static CUresult read_face(soft_gl_image *image, soft_gl_pixels *pixels, unsigned l, unsigned face)
{
    const soft_gl_image_level *level = &image->levels[l];
    soft_gl_level theirs;
    soft_gl_pixels_describe(pixels, l, face, &theirs);
    soft_gl_level part = common_part(image, level, &theirs);
    size_t size = soft_gl_image_slice(image, level);
    unsigned char *to = image->gl.fetched + offset_of(image, level, face);
    bool is_whole = part.width == level->width && part.height == level->height &&
                    part.width == theirs.width && part.height == theirs.height &&
                    part.slices == theirs.slices;
    if (is_whole) {
        soft_gl_pixels_read(pixels, l, face, image->format, to);
        finish(image, to, part.slices * size);
        return CUDA_SUCCESS;
    }
    memset(to, SOFT_GL_NO_BYTES,
           size * (faces_of(pixels, image, level) > 1 ? 1 : reachable(image, level)));
    return part.slices > 0 ? read_part(image, pixels, l, face, &theirs, &part) : CUDA_SUCCESS;
}

CUresult soft_gl_image_read(soft_gl_image *image, soft_gl_pixels *pixels)
{
    CUresult result = CUDA_SUCCESS;
    if (image->view.first_level > 0 || image->view.first_layer > 0)
        memset(image->gl.fetched, SOFT_GL_NO_BYTES, image->gl.size);
    for (unsigned l = 0; l < image->level_count; l++)
        for (unsigned face = 0;
             face < faces_of(pixels, image, &image->levels[l]) && result == CUDA_SUCCESS; face++)
            result = read_face(image, pixels, l, face);
    return result;
}

void soft_gl_image_write(const soft_gl_image *image, soft_gl_pixels *pixels)
{
    for (unsigned l = 0; l < image->level_count; l++) {
        const soft_gl_image_level *level = &image->levels[l];
        for (unsigned face = 0; face < faces_of(pixels, image, level); face++) {
            soft_gl_level theirs;
            soft_gl_pixels_describe(pixels, l, face, &theirs);
            soft_gl_level part = common_part(image, level, &theirs);
            if (part.slices > 0)
                soft_gl_pixels_write(pixels, l, face, image->format, &part, level->width,
                                     level->height,
                                     image->gl.pages + offset_of(image, level, face));
        }
    }
}
