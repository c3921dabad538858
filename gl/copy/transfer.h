/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes between OpenGL objects and host memory, in OpenGL's order: what it was told before happens
 * before, what it is told afterwards happens after. OpenGL's bindings and settings stay as they
 * are.
 */
#ifndef GR_GL_COPY_TRANSFER_H
#define GR_GL_COPY_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/format.h"

/* ---- Buffers --------------------------------------------------------------------------------- */

/*
 * Whether the application has it mapped, not persistently, so that OpenGL lets nobody else at it.
 */
bool gl_buffer_is_locked(unsigned int name);

/* `size` bytes from the start. Reading waits until OpenGL has come to it. */
void gl_buffer_read(unsigned int name, void *to, size_t size);

/*
 * *scratch is a buffer that immutable storage needs to be written to: made where it is 0, and kept.
 */
void gl_buffer_write(unsigned int name, const void *from, size_t size, unsigned int *scratch);

/* ---- Images ---------------------------------------------------------------------------------- */

/* Format and type that make OpenGL move texels as CUDA has them, unchanged. */
struct gl_transfer {
    unsigned int format, type;
};

struct gl_transfer gl_transfer_of(const struct gl_format *format);

/* Whether images of this target can be moved by this OpenGL. */
bool gl_transfer_can(const struct gl_target *target);

#define GL_STORE_PARAMETERS    16
#define GL_TRANSFER_PARAMETERS 12

/* The application's settings that decide how texels are moved, kept aside. */
struct gl_pixel_state {
    int pack_buffer, unpack_buffer;
    int store[GL_STORE_PARAMETERS];
    bool compatibility; /* which can also calculate with texels */
    float transfer[GL_TRANSFER_PARAMETERS];
};

/* From here to the end texels are moved unchanged and without gaps, from and to host memory. */
void gl_pixel_state_begin(struct gl_pixel_state *before);
void gl_pixel_state_end(const struct gl_pixel_state *before);

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
