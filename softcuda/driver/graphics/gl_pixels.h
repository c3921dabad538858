/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pixels of an OpenGL texture or renderbuffer. As in gl.h, no function changes anything that
 * the application can see.
 *
 * A level of a cube consists of six images: its faces, in OpenGL's order. A level of any other
 * texture is one image.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_PIXELS_H
#define GR_SOFTCUDA_DRIVER_GL_PIXELS_H

#include "softcuda/driver/graphics/gl_format.h"
#include "softcuda/driver/graphics/gl_state.h"

enum soft_gl_found {
    SOFT_GL_FOUND,
    SOFT_GL_NO_SUCH_NAME,
    SOFT_GL_OTHER_TARGET, /* the texture's target has no array type in CUDA */
};

/* A texture or renderbuffer between soft_gl_pixels_begin() and soft_gl_pixels_end(). */
typedef struct {
    unsigned name;
    unsigned target; /* the object's own target, which may differ from the requested target */
    int bound_before;
    unsigned scratch; /* a texture that replaces a renderbuffer, or 0 */
    int scratch_before;
    soft_gl_state before;
} soft_gl_pixels;

/* A level or face; all 0 if it does not exist. A slice is a layer, or a plane of a 3D texture. */
typedef struct {
    unsigned width, height, slices;
    unsigned internal;
    bool multisampled;
} soft_gl_level;

/*
 * Whether this OpenGL version can transfer the target: renderbuffers need a function that old
 * versions lack. This function and those below require a current context.
 */
bool soft_gl_pixels_supported(unsigned target);

/*
 * Begins to access an object. `target` must have passed soft_gl_target_registers() and
 * soft_gl_pixels_supported(). Call soft_gl_pixels_end() only after SOFT_GL_FOUND. Before OpenGL 4.5
 * the target of a texture cannot be queried: for a wrong `target` the function then returns
 * SOFT_GL_OTHER_TARGET and leaves an OpenGL error.
 */
enum soft_gl_found soft_gl_pixels_begin(soft_gl_pixels *pixels, unsigned name, unsigned target);
void soft_gl_pixels_end(const soft_gl_pixels *pixels);

void soft_gl_pixels_describe(const soft_gl_pixels *pixels, unsigned level, unsigned face,
                             soft_gl_level *found);

/* A texture view in its original texture. All 0 for images without immutable storage. */
typedef struct {
    int first_level, first_layer;
    int original_levels; /* the number of levels of the original */
} soft_gl_view;

void soft_gl_pixels_view(const soft_gl_pixels *pixels, soft_gl_view *view);

/*
 * Reads a whole level or face, without gaps between rows, of the size that
 * soft_gl_pixels_describe() reports. Waits until OpenGL has drawn the pixels.
 */
void soft_gl_pixels_read(soft_gl_pixels *pixels, unsigned level, unsigned face,
                         const soft_gl_format *format, void *to);

/*
 * Writes the part of a level or face that begins at its first pixel and has the size `part`. In
 * `from`, rows have `width` elements, and slices have `height` rows.
 */
void soft_gl_pixels_write(soft_gl_pixels *pixels, unsigned level, unsigned face,
                          const soft_gl_format *format, const soft_gl_level *part, unsigned width,
                          unsigned height, const void *from);

/* ---- OpenGL ES: gl_es.c ---------------------------------------------------------------------- */

/* Whether the current context is one of OpenGL ES. */
bool soft_gl_is_es(void);

/* Whether OpenGL ES can read and write pixels of the object in the layout of the format. */
bool soft_gl_es_transfers(const soft_gl_pixels *pixels, const soft_gl_format *format);

/* Reads a level of this size. `target` is that of the object, or a cube face. */
void soft_gl_es_read(const soft_gl_pixels *pixels, unsigned target, unsigned level,
                     const soft_gl_level *size, const soft_gl_format *format, unsigned char *to);

#endif
