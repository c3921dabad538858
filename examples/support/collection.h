/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One OpenGL image of each kind that CUDA can share: what gallery fills and hangs up.
 */
#ifndef COLLECTION_H
#define COLLECTION_H

#include <stdbool.h>

enum { PLANE, CUBE, MIPMAPS, LAYERS, RECTANGLE, VOLUME, RENDERBUFFER, IMAGES };

struct image_kind {
    const char *name;
    unsigned target;
    int width, height; /* of level 0 */
    int depth;         /* slices of a 3D image; else 1 */
    int layers;        /* array layers or a cube's faces; else 1 */
    int levels;        /* mip levels; level n is 2 to the power of n times smaller */
};

extern const struct image_kind image_kinds[IMAGES];

/* OpenGL's names, of textures and of one renderbuffer. */
struct collection {
    unsigned names[IMAGES];
};

/*
 * Makes all images, RGBA with 8 bits a channel, without contents. False after an error, which has
 * been printed; either way collection_free() cleans up.
 */
bool collection_init(struct collection *collection);

/* Zeros are fine. */
void collection_free(struct collection *collection);

#endif
