/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries the storage of a texture or renderbuffer. */
#ifndef GR_GL_IMAGE_STORAGE_H
#define GR_GL_IMAGE_STORAGE_H

#include <stdbool.h>

/* One level, or a renderbuffer. All 0 without storage. */
struct gl_level {
    int width, height, depth; /* depth: slices, layers, or 1 */
    int internal;             /* the format */
    int samples;
};

struct gl_image_storage {
    struct gl_level base; /* level 0 */
    unsigned int levels;  /* consecutive levels from level 0 on; 0 without storage */
    bool immutable;
    const char *incomplete; /* what is wrong with the levels or faces, to end a sentence; or NULL */
};

/* `target` is the texture's own target. Preserves OpenGL bindings and errors. */
void gl_image_storage(unsigned int name, unsigned int target, struct gl_image_storage *storage);

/* Queries level 0 only: enough to detect replaced storage. */
struct gl_level gl_image_base(unsigned int name, unsigned int target);

#endif
