/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernel of sinewave: a moving surface of sine waves, written as OpenGL vertices. */
#include "examples/support/grid.cuh"
#include "examples/support/vertex.h"

/* The height of the surface at a point, and its slopes along x and z. */
struct wave {
    float height, slope_x, slope_z;
};

/* Adds plane waves with the wave vector (kx, kz). */
static __device__ void add_straight(wave *w, float x, float z, float kx, float kz, float height,
                                    float phase)
{
    const float angle = kx * x + kz * z + phase;
    w->height += height * sinf(angle);
    w->slope_x += height * kx * cosf(angle);
    w->slope_z += height * kz * cosf(angle);
}

/* Adds rings that move away from x0 = z0 = 0. They are smooth at the centre and fade outwards. */
static __device__ void add_rings(wave *w, float x0, float z0, float k, float height, float phase)
{
    const float r = sqrtf(x0 * x0 + z0 * z0 + 0.004f);
    const float fade = 1.0f / (1.0f + 2.5f * r * r);
    const float angle = k * r + phase;
    const float slope = height * fade * (k * cosf(angle) - 5.0f * r * fade * sinf(angle)) / r;
    w->height += height * fade * sinf(angle);
    w->slope_x += slope * x0;
    w->slope_z += slope * z0;
}

static __device__ float4 blend(float4 a, float4 b, float t)
{
    return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z),
                       a.w + t * (b.w - a.w));
}

/* The colours: deep blue in the valleys, through teal, to gold on the crests. */
static __device__ float4 colour_of(float height)
{
    const float4 stops[4] = {
        make_float4(0.020f, 0.018f, 0.140f, 0.7f),
        make_float4(0.004f, 0.090f, 0.330f, 0.7f),
        make_float4(0.010f, 0.360f, 0.400f, 0.6f),
        make_float4(0.950f, 0.530f, 0.120f, 0.5f),
    };
    const float t = fminf(fmaxf(1.5f + 12.0f * height, 0.0f), 2.9999f);
    const int stop = (int)t;
    const float part = t - (float)stop;
    return blend(stops[stop], stops[stop + 1], part * part * (3.0f - 2.0f * part));
}

/* One thread per vertex: the n x n grid covers x and z from -1 to 1. */
extern "C" __global__ void sinewave(vertex *out, int n, float time)
{
    int column, row;
    if (!find_point(n, n, &column, &row))
        return;

    const float x = 2.0f * (float)column / (float)(n - 1) - 1.0f;
    const float z = 2.0f * (float)row / (float)(n - 1) - 1.0f;
    wave w = {0.0f, 0.0f, 0.0f};
    add_straight(&w, x, z, 3.4f, 1.3f, 0.055f, -1.6f * time);
    add_straight(&w, x, z, -2.3f, 5.2f, 0.035f, -2.1f * time + 1.3f);
    add_rings(&w, x - 0.25f, z + 0.2f, 21.0f, 0.055f, -4.5f * time);

    vertex v;
    v.position = make_float4(x, w.height, z, 1.0f);
    v.normal = make_float4(-w.slope_x, 1.0f, -w.slope_z, 1.0f);
    v.colour = colour_of(w.height);
    out[row * n + column] = v;
}
GR_KERNEL(sinewave)
