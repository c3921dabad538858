/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of port: a waving sheet of marbled paper. They write through a pointer and a surface,
 * independent of the renderer.
 */
#include "examples/support/grid.cuh"
#include "port.h"

/* The height of the surface at a point, and its slopes along x and z. */
struct wave {
    float height, slope_x, slope_z;
};

/* Adds the plane wave with the wave vector (kx, kz) to *w. */
static __device__ void add(wave *w, float x, float z, float kx, float kz, float height, float phase)
{
    const float angle = kx * x + kz * z + phase;
    w->height += height * sinf(angle);
    w->slope_x += height * kx * cosf(angle);
    w->slope_z += height * kz * cosf(angle);
}

/* One thread per vertex: the sheet covers x from -1.6 to 1.6 and z from -1 to 1. */
extern "C" __global__ void wave_sheet(port_vertex *out, float time)
{
    int column, row;
    if (!find_point(PORT_COLUMNS, PORT_ROWS, &column, &row))
        return;

    const float u = (float)column / (float)(PORT_COLUMNS - 1);
    const float v = (float)row / (float)(PORT_ROWS - 1);
    const float x = 3.2f * u - 1.6f, z = 2.0f * v - 1.0f;
    wave w = {0.0f, 0.0f, 0.0f};
    add(&w, x, z, 2.6f, 0.9f, 0.150f, -1.3f * time + 0.4f);
    add(&w, x, z, 4.7f, -2.3f, 0.052f, -2.0f * time + 1.9f);
    add(&w, x, z, 1.2f, 4.4f, 0.050f, -1.1f * time);
    add(&w, x, z, 8.3f, 5.1f, 0.012f, -2.6f * time + 0.7f);

    port_vertex vertex;
    vertex.place = make_float4(x, w.height, z, u);
    vertex.normal = make_float4(-w.slope_x, 1.0f, -w.slope_z, v);
    out[row * PORT_COLUMNS + column] = vertex;
}

static __device__ float3 blend(float3 a, float3 b, float t)
{
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    t = t * t * (3.0f - 2.0f * t);
    return make_float3(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z));
}

/* Inks that lie side by side: indigo, teal, ivory, coral, wine, and gold where two of them meet. */
static __device__ float3 ink(float value)
{
    const float3 inks[6] = {
        make_float3(0.045f, 0.055f, 0.190f), make_float3(0.020f, 0.240f, 0.330f),
        make_float3(0.800f, 0.720f, 0.560f), make_float3(0.760f, 0.215f, 0.110f),
        make_float3(0.260f, 0.035f, 0.105f), make_float3(0.045f, 0.055f, 0.190f),
    };
    const float t = value - floorf(value);
    const int last = 4; /* for a value just below a whole number, t rounds to 1 */
    const int which = 5.0f * t < (float)last ? (int)(5.0f * t) : last;
    const float part = 5.0f * t - (float)which;
    const float3 colour = blend(inks[which], inks[which + 1], (part - 0.5f) * 9.0f + 0.5f);
    const float seam = 1.0f - fabsf(part - 0.5f) * 16.0f;
    return blend(colour, make_float3(0.780f, 0.560f, 0.220f), 0.9f * seam);
}

/* Converts to 8 bit colour. The square root approximates the sRGB curve. */
static __device__ unsigned char to_byte(float value)
{
    return (unsigned char)(255.0f * sqrtf(fminf(fmaxf(value, 0.0f), 1.0f)) + 0.5f);
}

/* One thread per texel. The stripes of ink are combed repeatedly, ever finer. */
extern "C" __global__ void marble(cudaSurfaceObject_t out, float time)
{
    int column, row;
    if (!find_point(PORT_TEXTURE_WIDTH, PORT_TEXTURE_HEIGHT, &column, &row))
        return;

    float x = 4.0f * ((float)column + 0.5f) / (float)PORT_TEXTURE_HEIGHT - 3.2f;
    float y = 4.0f * ((float)row + 0.5f) / (float)PORT_TEXTURE_HEIGHT - 2.0f;
    float step = 1.25f, amount = 0.60f;
    for (int i = 0; i < 6; i++) {
        const float phase = 1.7f * (float)i + (0.22f + 0.05f * (float)i) * time;
        const float moved = x + amount * sinf(step * y + phase);
        y += amount * sinf(1.13f * step * moved - 0.8f * phase + 0.9f);
        x = moved;
        step *= 1.52f;
        amount *= 0.61f;
    }
    const float3 colour = ink(0.30f * x + 0.41f * y + 0.03f * time);
    surf2Dwrite(make_uchar4(to_byte(colour.x), to_byte(colour.y), to_byte(colour.z), 255), out,
                column * (int)sizeof(uchar4), row);
}

GR_KERNEL(wave_sheet)
GR_KERNEL(marble)
