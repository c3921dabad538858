/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernel of pingpong: a Julia set that changes from frame to frame.
 *
 * Products and sums that decide a colour are rounded separately (__fmul_rn, __fadd_rn) instead of
 * fused by nvcc, so that a GPU and the software CUDA driver compute the same set.
 */
#include "examples/support/grid.cuh"
#include "pingpong.h"

/* A pseudorandom number for a place in a frame. */
static __device__ unsigned code(unsigned frame, unsigned place)
{
    unsigned value = frame * 2654435761u + place * 2246822519u + 374761393u;
    value = (value ^ (value >> 15)) * 2246822519u;
    value = (value ^ (value >> 13)) * 3266489917u;
    return value ^ (value >> 16);
}

/* The steps after which z = z * z + c escapes, with a fraction; 0 if z does not escape. */
static __device__ float escape(float x, float y, float cx, float cy)
{
    const int most = 64;
    for (int i = 1; i < most; i++) {
        const float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        const float square = __fadd_rn(xx, yy);
        if (square > 256.0f)
            return (float)i - log2f(log2f(square) * 0.125f);
        y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
        x = __fadd_rn(__fadd_rn(xx, -yy), cx);
    }
    return 0.0f;
}

/*
 * The colours, from night blue over teal and ivory to coral. Points that do not escape are black.
 */
static __device__ float3 colour_of(float soon)
{
    if (soon <= 0.0f)
        return make_float3(0.004f, 0.005f, 0.012f);
    const float t = log2f(1.0f + soon) * 0.62f - 1.20f;
    const float3 stops[6] = {
        make_float3(0.008f, 0.012f, 0.045f), make_float3(0.015f, 0.070f, 0.170f),
        make_float3(0.020f, 0.290f, 0.350f), make_float3(0.820f, 0.730f, 0.540f),
        make_float3(0.800f, 0.220f, 0.110f), make_float3(0.220f, 0.030f, 0.090f),
    };
    const float at = fminf(fmaxf(2.1f * t, 0.0f), 4.999f);
    const int stop = (int)at;
    const float part = at - (float)stop, rest = 1.0f - part;
    const float3 a = stops[stop], b = stops[stop + 1];
    return make_float3(rest * a.x + part * b.x, rest * a.y + part * b.y, rest * a.z + part * b.z);
}

/* The colour of a texel: the mean of 2 by 2 samples. */
static __device__ float3 texel(int column, int row, float cx, float cy)
{
    const float scale = 2.3f / (float)TILE_HEIGHT;
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < 4; i++) {
        const float right = (float)column + 0.5f * (float)(i % 2) + 0.25f;
        const float down = (float)row + 0.5f * (float)(i / 2) + 0.25f;
        const float x = __fmul_rn(right - 0.5f * (float)TILE_WIDTH, scale);
        const float y = __fmul_rn(down - 0.5f * (float)TILE_HEIGHT, scale);
        const float3 c = colour_of(escape(x, y, cx, cy));
        sum = make_float3(sum.x + c.x, sum.y + c.y, sum.z + c.z);
    }
    return make_float3(0.25f * sum.x, 0.25f * sum.y, 0.25f * sum.z);
}

/* Converts to 8 bit colour. The square root approximates the sRGB curve. */
static __device__ unsigned char to_byte(float value)
{
    return (unsigned char)(255.0f * sqrtf(fminf(fmaxf(value, 0.0f), 1.0f)) + 0.5f);
}

static __device__ unsigned in_one(uchar4 bytes)
{
    return bytes.x | (unsigned)bytes.y << 8 | (unsigned)bytes.z << 16 | (unsigned)bytes.w << 24;
}

/*
 * One thread per texel of a shared image, which was last written two frames ago. sums[frame]
 * becomes the sum of the texels of the image, which verifies the picture at the end. *lost counts
 * the codes that Vulkan has not returned.
 */
extern "C" __global__ void julia(cudaSurfaceObject_t image, int frame, float cx, float cy,
                                 unsigned *sums, unsigned *lost)
{
    int column, row;
    if (!find_point(TILE_WIDTH, IMAGE_HEIGHT, &column, &row))
        return;
    const int at = column * (int)sizeof(uchar4);
    if (row < TILE_HEIGHT) {
        const float3 c = texel(column, row, cx, cy);
        const uchar4 bytes = make_uchar4(to_byte(c.x), to_byte(c.y), to_byte(c.z), 255);
        surf2Dwrite(bytes, image, at, row);
        atomicAdd(&sums[frame], in_one(bytes) * (unsigned)(row * TILE_WIDTH + column + 1));
    } else if (row == SENT_ROW) {
        surf2Dwrite(code((unsigned)frame, (unsigned)column), image, at, row);
    } else if (frame >= 2) {
        if (surf2Dread<unsigned>(image, at, row) != code((unsigned)frame - 2, (unsigned)column))
            atomicAdd(lost, 1u);
    }
}

GR_KERNEL(julia)
