/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A grid of vertices as triangles.
 */
#ifndef MESH_H
#define MESH_H

#include <stddef.h>

/* The number of indices for a grid of columns x rows vertices. */
size_t mesh_index_count(int columns, int rows);

/* Writes two triangles per square of the grid, counterclockwise seen from above, row by row. */
void mesh_indices(int columns, int rows, unsigned *indices);

#endif
