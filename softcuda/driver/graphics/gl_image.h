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
    unsigned target;     /* the target that the registering call names */
    unsigned own_target; /* the target of the OpenGL object */
    const soft_gl_format *format;
    size_t element;                     /* bytes */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* the descriptor of the mipmapped array */
    unsigned layers;                    /* the number of layers, each of which has its own arrays */
    unsigned level_count;
    soft_gl_image_level levels[SOFT_MAX_LEVELS];
    soft_gl_view view;
    size_t unreachable;   /* for views after level 0: the offset in the pages of the original */
    pthread_mutex_t lock; /* protects the fields below */
    bool is_open;
    soft_mipmap *mipmap; /* NULL until the application requests it */
    soft_array *
        /*
         * the layers of level 0, then of level 1, ...; each NULL until the application requests it
         */
        *arrays;
} soft_gl_image;

/* The number of bytes per slice of a level. */
size_t soft_gl_image_slice(const soft_gl_image *image, const soft_gl_image_level *level);

/*
 * Copy the part of the image that exists in both OpenGL and the pages. soft_gl_image_read() copies
 * it from OpenGL to image->gl.fetched, and fills the rest with SOFT_GL_NO_BYTES.
 * soft_gl_image_write() copies it from image->gl.pages to OpenGL.
 */
CUresult soft_gl_image_read(soft_gl_image *image, soft_gl_pixels *pixels);
void soft_gl_image_write(const soft_gl_image *image, soft_gl_pixels *pixels);

#endif
