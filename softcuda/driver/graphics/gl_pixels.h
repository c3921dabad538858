/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pixels of an OpenGL texture or renderbuffer. As in gl.h, nothing that the application can see
 * changes.
 *
 * A cube's level is six images, its faces in OpenGL's order; a level of any other image is one.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_PIXELS_H
#define GR_SOFTCUDA_DRIVER_GL_PIXELS_H

#include "softcuda/driver/graphics/gl_format.h"
#include "softcuda/driver/graphics/gl_state.h"

enum soft_gl_found {
    SOFT_GL_FOUND,
    SOFT_GL_NO_SUCH_NAME,
    SOFT_GL_OTHER_TARGET, /* a texture that CUDA has no array for */
};

/* One image between soft_gl_pixels_begin and soft_gl_pixels_end. */
typedef struct {
    unsigned name;
    unsigned target; /* of the image itself: what was asked for, or another one, or GL_TEXTURE_1D */
    int bound_before;
    unsigned scratch; /* a texture that stands in for a renderbuffer, or 0 */
    int scratch_before;
    soft_gl_state before;
} soft_gl_pixels;

/* All 0: there is no such level. A slice is a layer, or a plane of a 3D texture. */
typedef struct {
    unsigned width, height, slices;
    unsigned internal;
    bool multisampled;
} soft_gl_level;

/* Renderbuffers need a function that isn't in every OpenGL. A context is current, here and
 * below. */
bool soft_gl_pixels_supported(unsigned target);

/*
 * target is one of soft_gl_target_registers, and soft_gl_pixels_can it. Call soft_gl_pixels_end
 * only if it was found. An OpenGL without a way to ask for a texture's target (before 4.5) answers
 * a wrong one with SOFT_GL_OTHER_TARGET and an error of its own.
 */
enum soft_gl_found soft_gl_pixels_begin(soft_gl_pixels *pixels, unsigned name, unsigned target);
void soft_gl_pixels_end(const soft_gl_pixels *pixels);

void soft_gl_pixels_describe(const soft_gl_pixels *pixels, unsigned level, unsigned face,
                             soft_gl_level *found);

/* The whole of a level or face as soft_gl_pixels_look describes it now, without gaps. Waits for
 * what OpenGL draws there. */
void soft_gl_pixels_read(soft_gl_pixels *pixels, unsigned level, unsigned face,
                         const soft_gl_format *format, void *to);

/* The first part of one, as large as `part` says, from rows of `width` and slices of `height`
 * rows. */
void soft_gl_pixels_write(soft_gl_pixels *pixels, unsigned level, unsigned face,
                          const soft_gl_format *format, const soft_gl_level *part, unsigned width,
                          unsigned height, const void *from);

#endif
