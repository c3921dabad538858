/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The OpenGL internal formats and targets that CUDA supports, and their layouts in both APIs. */
#ifndef GR_SOFTCUDA_DRIVER_GL_FORMAT_H
#define GR_SOFTCUDA_DRIVER_GL_FORMAT_H

#include "softcuda/driver/soft.h"

typedef struct {
    unsigned internal; /* the internal format that OpenGL reports */
    CUarray_format format;
    unsigned channels; /* per element in CUDA; 4 if OpenGL has 3 */
    unsigned transfer; /* format and type with which OpenGL transfers elements of this layout */
    unsigned type;
    bool zero_fourth; /* CUDA reads 0 in the channel that OpenGL lacks and reads as 1 */
} soft_gl_format;

/* The row of an internal format; NULL if CUDA refuses the format. */
const soft_gl_format *soft_gl_format_of(unsigned internal);

/* Whether images of the target can be registered. GL_RENDERBUFFER counts as a target. */
bool soft_gl_target_registers(unsigned target);

#endif
