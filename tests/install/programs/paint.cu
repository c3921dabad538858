/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernel of texture.c and window.c. The colour of a texel is its position. */
#include <grinterop/cuhost.h>

extern "C" __global__ void paint(cudaSurfaceObject_t image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite(make_uchar4(x, y, x ^ y, 255), image, 4 * x, y);
}
GR_KERNEL(paint)
