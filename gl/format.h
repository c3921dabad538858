/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Maps OpenGL internal formats and targets to CUDA: what CUDA sees, what it refuses, and what to
 * use instead. Measured on an H200. docs/formats.md lists the table; tests/image/test_image_table
 * compares it with both drivers.
 */
#ifndef GR_GL_FORMAT_H
#define GR_GL_FORMAT_H

#include <stdbool.h>

#include <cuda.h>

struct gl_format {
    unsigned int internal;  /* as OpenGL reports it */
    const char *name;       /* "GL_RGBA8" */
    const char *refused;    /* why CUDA refuses it, or NULL */
    const char *instead;    /* what to use instead */
    CUarray_format format;  /* of one channel in CUDA */
    unsigned char channels; /* in CUDA: 4 if OpenGL has 3 */
    bool normalized;        /* integers represent fractions */
    bool srgb;
};

/* NULL if the table does not list the format. */
const struct gl_format *gl_format_of(unsigned int internal);

struct gl_target {
    unsigned int target;
    const char *name;     /* "GL_TEXTURE_2D" */
    unsigned int binding; /* the glGetIntegerv query of its binding */
    const char *instead;  /* what to use if CUDA refuses the target; else NULL */
};

/* NULL if the value is not the target of a whole texture or renderbuffer. */
const struct gl_target *gl_target_of(unsigned int target);

/*
 * Returns the target of a texture by binding it briefly. Needs direct state access
 * (gl_context.direct).
 */
const struct gl_target *gl_texture_target(unsigned int name);

#endif
