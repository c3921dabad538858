/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between OpenGL images and host memory, or the buffer that is bound for texels, in OpenGL's
 * order: what it was told before happens
 * before, what it is told afterwards happens after. OpenGL's bindings and settings stay as they
 * are.
 */
#ifndef GR_GL_COPY_TEXELS_H
#define GR_GL_COPY_TEXELS_H

#include <stdbool.h>

#include "gl/format.h"

/* Format and type that make OpenGL move texels as CUDA has them, unchanged. */
struct gl_transfer {
    unsigned int format, type;
};

struct gl_transfer gl_transfer_of(const struct gl_format *format);

/* Whether images of this target can be moved by this OpenGL. */
bool gl_transfer_can(const struct gl_target *target);

/* An image whose levels are moved, between begin and end. */
struct gl_texels {
    const struct gl_target *target;
    struct gl_transfer transfer;
    unsigned int name;
    unsigned int scratch; /* a texture that stands in for a renderbuffer */
    int bound;            /* what was bound before */
};

/* Binds it; `scratch` is 0 but for renderbuffers. */
void gl_texels_begin(struct gl_texels *texels, unsigned int name, const struct gl_target *target,
                     const struct gl_format *format, unsigned int scratch);
void gl_texels_end(const struct gl_texels *texels);

/* One level, with all layers or slices; of a cube one face. */
struct gl_texels_part {
    unsigned int level, face;
    int width, height, depth; /* depth: slices or layers, else 1 */
};

void gl_texels_read(const struct gl_texels *texels, const struct gl_texels_part *part, void *to);
void gl_texels_write(const struct gl_texels *texels, const struct gl_texels_part *part,
                     const void *from);

/*
 * A texture like a renderbuffer of this internal format, within a pixel state; it is the caller's.
 */
unsigned int gl_texels_scratch(unsigned int internal, struct gl_transfer transfer, int width,
                               int height);

#endif
