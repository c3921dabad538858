/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernel parameters of heightmap. */
#ifndef HEIGHTMAP_H
#define HEIGHTMAP_H

/* The skirt: rings of vertices around the terrain that form the walls of a block. */
enum { SKIRT = 2 };

struct terrain {
    int columns, rows;    /* the samples of the picture; the mesh has SKIRT more on every side */
    float half_x, half_z; /* the terrain extends from -half to half */
    float height;         /* the height of the brightest pixel; the darkest is at 0 */
    float base;           /* the lower end of the walls */
    float darkest, range; /* the lowest luminance; the highest is darkest + range */
    float light[3];       /* the unit vector to the sun */
    int coloured;         /* use the colours of the picture instead of colours by height */
};

#endif
