/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* One OpenGL image of each kind that CUDA can share, which gallery fills and shows. */
#ifndef COLLECTION_H
#define COLLECTION_H

#include <stdbool.h>

enum { PLANE, CUBE, MIPMAPS, LAYERS, RECTANGLE, VOLUME, RENDERBUFFER, IMAGES };

struct image_kind {
    const char *name;
    unsigned target;
    int width, height; /* the size of level 0 */
    int depth;         /* the slices of a 3D image, otherwise 1 */
    int layers;        /* the array layers or cube faces, otherwise 1 */
    int levels;        /* the mip levels; level n is 2^n times smaller */
};

extern const struct image_kind image_kinds[IMAGES];

/* The OpenGL names of the textures and of one renderbuffer. */
struct collection {
    unsigned names[IMAGES];
};

/*
 * Creates all images, RGBA with 8 bits per channel, without contents. False after an error, which
 * has been printed; collection_free() cleans up in any case.
 */
bool collection_init(struct collection *collection);

/* Accepts a zeroed struct. */
void collection_free(struct collection *collection);

#endif
