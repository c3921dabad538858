/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The picture of publish.c, in the form that a neural network or renderer outputs: linear half
 * floats, one plane per colour, top row first. It is a Julia set, lit by the potential outside it.
 */
#include "examples/support/grid.cuh"

/* Converts to half. Light is positive and within the range of a half. */
static __device__ unsigned short to_half(float value)
{
#ifdef __CUDACC__
    unsigned short half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#else
    if (value < 0x1p-14f)
        return 0;
    return (unsigned short)((__float_as_uint(value) - 0x38000000u + 0x1000u) >> 13);
#endif
}

/* The smooth escape time of a point, in iterations. 0 if the point is inside the set. */
static __device__ float outside(float x, float y, float cx, float cy, float *nearest)
{
    *nearest = 1e9f;
    for (int i = 1; i <= 400; i++) {
        const float square = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = square;
        const float size = x * x + y * y;
        *nearest = fminf(*nearest, fabsf(x) + 0.3f * fabsf(y));
        if (size > 256.0f)
            return i + 1.0f - log2f(0.5f * log2f(size));
    }
    return 0.0f;
}

extern "C" __global__ void julia(unsigned short *picture, int width, int height, float time)
{
    int px, py;
    if (!find_point(width, height, &px, &py))
        return;
    const float turn = 0.9f + 0.12f * time, c = cosf(0.35f), s = sinf(0.35f);
    const float u = (2.0f * px - width) / height * 0.98f, v = (2.0f * py - height) / height * 0.98f;
    float nearest;
    const float steps = outside(u * c - v * s, u * s + v * c, -0.745f + 0.06f * cosf(turn),
                                0.186f * sinf(turn) / 0.78f, &nearest);
    const float glow = steps > 0.0f ? powf(steps / 62.0f, 1.5f) : 0.0f;
    const float thread = steps > 0.0f ? 0.0f : 0.9f * expf(-9.0f * nearest);
    const float wave = 0.5f + 0.5f * cosf(0.22f * steps);
    const size_t plane = (size_t)width * height, at = (size_t)py * width + px;
    picture[at] = to_half(0.010f + glow * (1.6f + 1.2f * wave) + 0.35f * thread);
    picture[at + plane] = to_half(0.012f + glow * (0.55f + 0.6f * wave) + 0.75f * thread);
    picture[at + 2 * plane] = to_half(0.035f + glow * (0.25f + 0.15f * wave) + 1.1f * thread);
}
GR_KERNEL(julia)
