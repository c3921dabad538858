/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL internal formats and targets that CUDA supports, and their pixel layouts in both APIs.
 */
#ifndef GR_SOFTCUDA_DRIVER_GL_FORMAT_H
#define GR_SOFTCUDA_DRIVER_GL_FORMAT_H

#include "softcuda/driver/soft.h"

typedef struct {
    unsigned internal; /* the internal format that OpenGL reports */
    CUarray_format format;
    unsigned channels; /* per element in CUDA: 4 where OpenGL has 3 */
    unsigned transfer; /* format and type with which OpenGL transfers elements of this layout */
    unsigned type;
    bool zero_fourth; /* OpenGL has no fourth channel and reads it as one; CUDA reads zero */
} soft_gl_format;

/* NULL for an internal format that CUDA refuses. */
const soft_gl_format *soft_gl_format_of(unsigned internal);

/* Whether images of the target can be registered. GL_RENDERBUFFER counts as a target. */
bool soft_gl_target_registers(unsigned target);

#endif
