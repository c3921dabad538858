/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The output of the kernels, which both renderers draw: the layout of the shared vertex buffer, and
 * the size of the mesh and the texture.
 */
#ifndef PORT_H
#define PORT_H

#include <vector_types.h>

enum { PORT_COLUMNS = 640, PORT_ROWS = 400, PORT_TEXTURE_WIDTH = 2048, PORT_TEXTURE_HEIGHT = 1280 };

struct port_vertex {
    float4 place;  /* x, y, z; w: the texture coordinate across, 0 to 1 */
    float4 normal; /* x, y, z, not normalised; w: the texture coordinate down */
};

#endif
