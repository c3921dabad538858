/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grid of vertices as triangles.
 */
#ifndef MESH_H
#define MESH_H

#include <stddef.h>

/* How many indices a grid of columns by rows vertices has. */
size_t mesh_index_count(int columns, int rows);

/* Two triangles for each square of the grid, seen from above counterclockwise; row by row. */
void mesh_indices(int columns, int rows, unsigned *indices);

#endif
