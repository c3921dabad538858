/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The data shared by the kernels and the drawing of particles. */
#ifndef PARTICLES_H
#define PARTICLES_H

#include <vector_types.h>

/* A point to draw. */
struct spark {
    float4 place;  /* x, y, z, 1 */
    float4 colour; /* the RGB light that the spark adds; w: its size */
};

#endif
