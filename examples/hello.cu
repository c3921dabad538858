/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernels of hello.c and its variants: one source for a GPU and for the software driver. */
#include <grinterop/cuhost.h>

/* One thread per vertex, with position and colour: a square of points on a wave. */
extern "C" __global__ void wave(float4 *vertices, float time)
{
    int side = gridDim.x * blockDim.x;
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = 2.0f * x / side - 1.0f, v = 2.0f * y / side - 1.0f;
    float height = sinf(14.0f * sqrtf(u * u + v * v) - time) * cosf(1.5f * u), t = height + 1.0f;
    float4 *vertex = vertices + 2 * (y * side + x);
    vertex[0] = make_float4(u, 0.08f * height, v, 1.0f);
    vertex[1] = make_float4(0.1f + 0.45f * t, 0.2f + 0.3f * t, 0.8f - 0.3f * t, 1.0f);
}
GR_KERNEL(wave)

/* One thread per texel: rings that move outwards. */
extern "C" __global__ void rings(cudaSurfaceObject_t image, int width, int height, float time)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (2.0f * x - width) / height, v = (2.0f * y - height) / height;
    float light = 0.5f + 0.5f * sinf(18.0f * sqrtf(u * u + v * v) - time);
    unsigned char red = (unsigned char)(30.0f + 220.0f * light);
    unsigned char green = (unsigned char)(60.0f + 140.0f * light);
    unsigned char blue = (unsigned char)(190.0f - 110.0f * light);
    surf2Dwrite(make_uchar4(red, green, blue, 255), image, 4 * x, y);
}
GR_KERNEL(rings)
