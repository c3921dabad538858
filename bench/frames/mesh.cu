/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of bench_frames: a mesh of w by w points on a wave, which OpenGL
 * and Vulkan draw, and a filter for a picture of w by w pixels drawn by OpenGL.
 */
#include <grinterop/cuhost.h>

/*
 * The kernel that writes the mesh. Points lie a tenth of a pixel off the border between two pixels,
 * so that rounding can't move a point to the neighbouring pixel. The waves are steep enough to
 * leave gaps between the points of the finest mesh, so that every part of the mesh is visible.
 */
extern "C" __global__ void mesh(float4 *out, int w, float phase)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= w * w)
        return;
    const float off = 0.1f / 256.0f;
    const float x = 2.0f * ((float)(i % w) + 0.5f) / (float)w - 1.0f + off;
    const float y = 2.0f * ((float)(i / w) + 0.5f) / (float)w - 1.0f + off;
    const float height = sinf(5.0f * x + 6.2831853f * phase) * cosf(9.0f * y - 3.0f * phase);
    out[i] = make_float4(x, 0.7f * y + 0.28f * height, height, phase);
}
GR_KERNEL(mesh)

/* Writes the mean of each pixel and its eight neighbours. Edges are clamped. */
extern "C" __global__ void filter(const float4 *in, float4 *out, int w)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= w * w)
        return;
    const int x = i % w, y = i / w;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int column = x + dx < 0 ? 0 : x + dx < w ? x + dx : w - 1;
            const int row = y + dy < 0 ? 0 : y + dy < w ? y + dy : w - 1;
            const float4 pixel = in[row * w + column];
            sum.x += pixel.x;
            sum.y += pixel.y;
            sum.z += pixel.z;
            sum.w += pixel.w;
        }
    out[i] = make_float4(sum.x / 9, sum.y / 9, sum.z / 9, sum.w / 9);
}
GR_KERNEL(filter)
