/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program heightmap tells its kernels.
 */
#ifndef HEIGHTMAP_H
#define HEIGHTMAP_H

/* The skirt: rings of vertices round the terrain that make it a block with walls. */
enum { SKIRT = 2 };

struct terrain {
    int columns, rows;    /* samples of the picture; the mesh has SKIRT more on every side */
    float half_x, half_z; /* the terrain lies from -half to half */
    float height;         /* of what is brightest; what is darkest is at 0 */
    float base;           /* where the walls end */
    float darkest, range; /* luminance of the lowest place, and how much brighter the highest is */
    float light[3];       /* the direction to the sun, of length 1 */
    int coloured;         /* take the picture's own colours instead of colours by height */
};

#endif
