/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel of farm: a rough sea, the sum of many waves, written as OpenGL vertices. The cost of a
 * frame grows with the number of waves; the height of the sea does not.
 */
#include "examples/support/grid.cuh"
#include "examples/support/vertex.h"

/* A pseudorandom number from 0 to 1. */
static __device__ float random_of(unsigned i, unsigned which)
{
    unsigned h = i * 747796405u + which * 2891336453u + 1u;
    h = ((h >> ((h >> 28) + 4u)) ^ h) * 277803737u;
    h = (h >> 22) ^ h;
    return (float)(h >> 8) / 16777216.0f;
}

/* The height of the sea at a point, and its slopes along x and z. */
struct sea {
    float height, slope_x, slope_z;
};

/*
 * Adds wave i of n. The wind blows along one diagonal, and long waves run faster than short ones.
 */
static __device__ void add_wave(sea *s, int i, int n, float x, float z, float time)
{
    const float k = 3.0f * expf(3.4f * ((float)i + 0.5f) / (float)n);
    const float spread = random_of((unsigned)i, 1u) - random_of((unsigned)i, 2u);
    const float kx = k * cosf(0.7f + 1.3f * spread), kz = k * sinf(0.7f + 1.3f * spread);
    const float phase = 6.2831853f * random_of((unsigned)i, 3u);
    const float angle = kx * x + kz * z - 0.9f * sqrtf(k) * time + phase;
    const float height = 0.45f / (k * sqrtf((float)n));
    s->height += height * sinf(angle);
    s->slope_x += height * kx * cosf(angle);
    s->slope_z += height * kz * cosf(angle);
}

/*
 * The colour of the sea: dark in the valleys, green where a crest is thin, white where it is steep.
 */
static __device__ float4 colour_of(sea s)
{
    const float thin = fminf(fmaxf(0.5f + 6.0f * s.height, 0.0f), 1.0f);
    const float steep = s.slope_x * s.slope_x + s.slope_z * s.slope_z;
    const float foam = fminf(fmaxf(6.0f * (steep * thin * thin - 0.13f), 0.0f), 1.0f);
    return make_float4(0.004f + 0.010f * thin + 0.75f * foam, 0.030f + 0.150f * thin + 0.65f * foam,
                       0.090f + 0.150f * thin + 0.62f * foam, 0.8f - 0.7f * foam);
}

/* One thread per vertex: the n x n grid covers x and z from -1 to 1. */
extern "C" __global__ void sea_at(vertex *out, int n, int waves, float time)
{
    int column, row;
    if (!find_point(n, n, &column, &row))
        return;

    const float x = 2.0f * (float)column / (float)(n - 1) - 1.0f;
    const float z = 2.0f * (float)row / (float)(n - 1) - 1.0f;
    sea s = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < waves; i++)
        add_wave(&s, i, waves, x, z, time);

    vertex v;
    v.position = make_float4(x, s.height, z, 1.0f);
    v.normal = make_float4(-s.slope_x, 1.0f, -s.slope_z, 1.0f);
    v.colour = colour_of(s);
    out[row * n + column] = v;
}
GR_KERNEL(sea_at)
