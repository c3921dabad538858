/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The grid of kernels that have one thread per point, as session_launch() starts them. */
#ifndef GRID_CUH
#define GRID_CUH

#include <grinterop/cuhost.h>

/* Finds the point of this thread. False if the thread is beyond the grid. */
static __device__ bool find_point(int columns, int rows, int *column, int *row)
{
    *column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    *row = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    return *column < columns && *row < rows;
}

#endif
