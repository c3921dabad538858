/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A grid of points in a sine wave, as CUDA programs compute it for OpenGL, but without a window. */
#include "expect.h"

#include <math.h>

const unsigned int mesh_width = 96;
const unsigned int mesh_height = 64;

__global__ void wave_kernel(float4 *pos, unsigned int width, unsigned int height, float time)
{
    unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x / (float)width * 2.0f - 1.0f;
    float v = y / (float)height * 2.0f - 1.0f;
    float w = sinf(u * 4.0f + time) * cosf(v * 4.0f + time) * 0.5f;
    pos[y * width + x] = make_float4(u, w, v, 1.0f);
}

void launch_kernel(float4 *pos, unsigned int width, unsigned int height, float time)
{
    dim3 block(8, 8, 1);
    dim3 grid(width / block.x, height / block.y, 1);
    wave_kernel<<<grid, block>>>(pos, width, height, time);
}

int main()
{
    numbers<float4> points(mesh_width * mesh_height);
    const float time = 0.25f;
    launch_kernel(points.device, mesh_width, mesh_height, time);
    points.fetch();
    for (unsigned y = 0; y < mesh_height; y++)
        for (unsigned x = 0; x < mesh_width; x++) {
            const float4 p = points[y * mesh_width + x];
            const float u = x / (float)mesh_width * 2.0f - 1.0f;
            const float v = y / (float)mesh_height * 2.0f - 1.0f;
            const float w = sinf(u * 4.0f + time) * cosf(v * 4.0f + time) * 0.5f;
            EXPECT(p.x == u && p.z == v && p.w == 1.0f, "at %u %u", x, y);
            EXPECT(fabsf(p.y - w) < 1e-6f, "%g, expected %g at %u %u", p.y, w, x, y);
        }
    return 0;
}
