/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The pixels of an OpenGL texture or renderbuffer. As in gl.h, nothing changes that the application
 * can see.
 *
 * A level of a cube is six images, its faces in OpenGL's order; a level of any other image is one.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_PIXELS_H
#define GR_SOFTCUDA_DRIVER_GL_PIXELS_H

#include "softcuda/driver/graphics/gl_format.h"
#include "softcuda/driver/graphics/gl_state.h"

enum soft_gl_found {
    SOFT_GL_FOUND,
    SOFT_GL_NO_SUCH_NAME,
    SOFT_GL_OTHER_TARGET, /* a texture without an array type in CUDA */
};

/* One image between soft_gl_pixels_begin() and soft_gl_pixels_end(). */
typedef struct {
    unsigned name;
    unsigned target; /* of the image itself: the requested one, another one, or GL_TEXTURE_1D */
    int bound_before;
    unsigned scratch; /* a texture in place of a renderbuffer, or 0 */
    int scratch_before;
    soft_gl_state before;
} soft_gl_pixels;

/* All 0 if the level does not exist. A slice is a layer, or a plane of a 3D texture. */
typedef struct {
    unsigned width, height, slices;
    unsigned internal;
    bool multisampled;
} soft_gl_level;

/* Renderbuffers need a function that not every OpenGL has. A context is current, here and below. */
bool soft_gl_pixels_supported(unsigned target);

/*
 * `target` passes soft_gl_target_registers() and soft_gl_pixels_supported(). Call
 * soft_gl_pixels_end() only after SOFT_GL_FOUND. Before OpenGL 4.5 a texture's target cannot be
 * queried: a wrong one returns SOFT_GL_OTHER_TARGET and leaves an OpenGL error.
 */
enum soft_gl_found soft_gl_pixels_begin(soft_gl_pixels *pixels, unsigned name, unsigned target);
void soft_gl_pixels_end(const soft_gl_pixels *pixels);

void soft_gl_pixels_describe(const soft_gl_pixels *pixels, unsigned level, unsigned face,
                             soft_gl_level *found);

/*
 * Reads a whole level or face, contiguous, of the size that soft_gl_pixels_describe() reports.
 * Waits for OpenGL's drawing.
 */
void soft_gl_pixels_read(soft_gl_pixels *pixels, unsigned level, unsigned face,
                         const soft_gl_format *format, void *to);

/*
 * Writes the first part of one, of size `part`, from rows of `width` and slices of `height` rows.
 */
void soft_gl_pixels_write(soft_gl_pixels *pixels, unsigned level, unsigned face,
                          const soft_gl_format *format, const soft_gl_level *part, unsigned width,
                          unsigned height, const void *from);

#endif
