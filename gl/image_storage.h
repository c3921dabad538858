/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenGL says about a texture's or renderbuffer's storage. */
#ifndef GR_GL_IMAGE_STORAGE_H
#define GR_GL_IMAGE_STORAGE_H

#include <stdbool.h>

/* One level, or a renderbuffer. All 0 where there is no storage. */
struct gl_level {
    int width, height, depth; /* depth: slices, layers, or 1 */
    int internal;             /* the format */
    int samples;
};

struct gl_image_storage {
    struct gl_level base; /* level 0 */
    unsigned int levels;  /* that follow each other from level 0 on; 0 without storage */
    bool immutable;
    const char
        *incomplete; /* what is wrong with the levels or faces, as the end of a sentence; or NULL */
};

/*
 * Asks for a whole image of that target, which is the texture's own. OpenGL's bindings and errors
 * stay as they are.
 */
void gl_image_storage(unsigned int name, unsigned int target, struct gl_image_storage *storage);

/* Level 0 alone: enough to see that the storage is another one. */
struct gl_level gl_image_base(unsigned int name, unsigned int target);

#endif
