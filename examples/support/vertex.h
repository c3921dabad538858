/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The layout of the shared vertex buffer, which a kernel writes and OpenGL draws. */
#ifndef VERTEX_H
#define VERTEX_H

#include <vector_types.h>

struct vertex {
    float4 position; /* the position: x, y, z, 1 */
    float4 normal;   /* the normal, not normalised; w: the received sunlight, 0 to 1 */
    float4 colour;   /* the RGB colour of the material in linear light; w: shininess */
};

#endif
