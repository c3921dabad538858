/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel writes and OpenGL draws: the layout of the shared vertex buffer, for both sides.
 */
#ifndef VERTEX_H
#define VERTEX_H

#include <vector_types.h>

struct vertex {
    float4 position; /* x, y, z, 1 */
    float4 normal;   /* of any length; w: how much sunlight arrives, 0 to 1 */
    float4 colour;   /* red, green, blue of the material in linear light; w: how much it shines */
};

#endif
