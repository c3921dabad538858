/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Queries the storage of buffers, textures and renderbuffers. The queries preserve OpenGL bindings
 * and errors. A context with OpenGL 3.2 or newer is current.
 */
#ifndef GR_GL_OBJECT_STORAGE_H
#define GR_GL_OBJECT_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "gl/context/current_context.h"

/*
 * Returns the size of an existing buffer's storage in bytes; 0 if the buffer has no storage.
 * `direct`: the context has direct state access.
 */
size_t gl_buffer_storage(unsigned int name, bool direct);

/* Whether glBufferStorage allocated the storage, so that it cannot be replaced. */
bool gl_buffer_is_immutable(unsigned int name, const struct gl_context *context);

/* The size and format of one level, or of a renderbuffer. All fields are 0 without storage. */
struct gl_level {
    int width, height, depth; /* depth: the number of slices or layers, otherwise 1 */
    int internal;             /* the format */
    int samples;
};

struct gl_image_storage {
    struct gl_level base; /* level 0 */
    unsigned int levels;  /* the number of consecutive levels from level 0 on; 0 without storage */
    bool immutable;
    /* what is wrong with the levels or faces, as the end of a sentence; or NULL */
    const char *incomplete;
};

/* Queries the storage of an image. `target` is the texture's own target. */
void gl_image_storage(unsigned int name, unsigned int target, struct gl_image_storage *storage);

/* Queries one level. Level 0 is enough to detect that the storage was replaced. */
struct gl_level gl_image_level(unsigned int name, unsigned int target, int level);

#endif
