/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A grid of vertices as triangles.
 */
#include "mesh.h"

size_t mesh_index_count(int columns, int rows)
{
    return 6 * (size_t)(columns - 1) * (size_t)(rows - 1);
}

void mesh_indices(int columns, int rows, unsigned *indices)
{
    for (int row = 0; row + 1 < rows; row++) {
        for (int column = 0; column + 1 < columns; column++) {
            const unsigned far_left = (unsigned)(row * columns + column);
            const unsigned near_left = far_left + (unsigned)columns;
            const unsigned square[6] = {far_left,  near_left,     far_left + 1,
                                        near_left, near_left + 1, far_left + 1};
            for (int i = 0; i < 6; i++)
                *indices++ = square[i];
        }
    }
}
