/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A registered OpenGL texture or renderbuffer: its lifetime and arrays (gl_image.c), and the
 * transfer of its pixels to CUDA and back (gl_exchange.c).
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_IMAGE_H
#define GR_SOFTCUDA_DRIVER_GL_IMAGE_H

#include "softcuda/driver/image/array.h"
#include "softcuda/driver/graphics/gl_pixels.h"
#include "softcuda/driver/graphics/gl_resource.h"

/* Rows and slices of a level are contiguous. */
typedef struct {
    unsigned width, height, slices;
    size_t offset; /* in the pages */
} soft_gl_image_level;

typedef struct {
    soft_gl_resource gl;
    unsigned target;     /* as the call named it */
    unsigned own_target; /* of the OpenGL object */
    const soft_gl_format *format;
    size_t element;                     /* bytes */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of the mipmapped array */
    unsigned layers;                    /* with arrays of their own */
    unsigned level_count;
    soft_gl_image_level levels[SOFT_MAX_LEVELS];
    pthread_mutex_t lock; /* for the fields below */
    bool is_open;
    soft_mipmap *mipmap; /* NULL until it is requested */
    soft_array *
        *arrays; /* each NULL until it is requested: the layers of level 0, then of level 1, ... */
} soft_gl_image;

/* Bytes per slice of a level. */
size_t soft_gl_image_slice(const soft_gl_image *image, const soft_gl_image_level *level);

/*
 * Copies the part that both sides have: to image->gl.fetched, with SOFT_GL_NO_BYTES for the rest;
 * and from image->gl.pages.
 */
CUresult soft_gl_image_read(soft_gl_image *image, soft_gl_pixels *pixels);
void soft_gl_image_write(const soft_gl_image *image, soft_gl_pixels *pixels);

#endif
