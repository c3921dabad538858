/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What particles' kernels and its drawing share.
 */
#ifndef PARTICLES_H
#define PARTICLES_H

#include <vector_types.h>

/* A point to draw. */
struct spark {
    float4 place;  /* x, y, z, 1 */
    float4 colour; /* red, green, blue of the light that it adds; w: its size */
};

#endif
