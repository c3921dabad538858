/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's internal formats and targets as CUDA takes them: the one table of what it sees, what it
 * refuses and what to use instead. Measured on an H200; docs/formats.md shows it,
 * tests/image/test_image_table compares it with both drivers.
 */
#ifndef GR_GL_FORMAT_H
#define GR_GL_FORMAT_H

#include <stdbool.h>

#include <cuda.h>

struct gl_format {
    unsigned int internal;  /* as OpenGL reports it */
    const char *name;       /* "GL_RGBA8" */
    const char *refused;    /* why CUDA refuses it, or NULL */
    const char *instead;    /* what to use then */
    CUarray_format format;  /* of one channel in CUDA */
    unsigned char channels; /* in CUDA: 4 where OpenGL has 3 */
    bool normalized;        /* integers stand for fractions */
    bool srgb;
};

/* NULL for a format that the table does not know. */
const struct gl_format *gl_format_of(unsigned int internal);

struct gl_target {
    unsigned int target;
    const char *name;     /* "GL_TEXTURE_2D" */
    unsigned int binding; /* what glGetIntegerv calls its binding */
    const char *instead;  /* what to use, where CUDA refuses the target; NULL where it does not */
};

/* NULL for a value that is no target of a whole texture or renderbuffer. */
const struct gl_target *gl_target_of(unsigned int target);

/*
 * The target that a texture has, found by binding it for a moment. Needs a context that can be
 * asked by name (gl_context.direct).
 */
const struct gl_target *gl_texture_target(unsigned int name);

#endif
