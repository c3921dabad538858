/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by all steps: the sizes, the tiles, and the CUDA kernels. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#define WINDOW  512 /* pixels per side */
#define MESH    128 /* vertices per side */
#define IMAGE   256 /* pixels per side */
#define INDICES (6 * (MESH - 1) * (MESH - 1))

#define checkCudaErrors(call) checkResult(call, #call, __LINE__)

static void checkResult(cudaError_t error, const char *call, int line)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "ripples.cu:%d: %s: %s\n", line, call, cudaGetErrorString(error));
    exit(1);
}

/*
 * The rings around a drop at distance (dx, dy): the height of the water, and its slope towards the
 * light.
 */
__device__ float2 rings(float dx, float dy, float time)
{
    const float distance = sqrtf(dx * dx + dy * dy + 0.0002f);
    const float fade = 0.011f * expf(-2.0f * distance);
    const float phase = 55.0f * distance - 7.0f * time;
    const float rise = fade * (55.0f * cosf(phase) - 2.0f * sinf(phase));
    return make_float2(fade * sinf(phase), rise * (0.6f * dx + 0.8f * dy) / distance);
}

/* Writes the position of each vertex, with the slope as the fourth component. */
__global__ void ripple(float4 *positions, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = x / (side - 1.0f), v = y / (side - 1.0f);
    const float2 one = rings(u - 0.3f, v - 0.35f, time);
    const float2 other = rings(u - 0.65f - 0.1f * cosf(time), v - 0.6f, time + 0.4f);
    positions[y * side + x] = make_float4(u, v, one.x + other.x, one.y + other.y);
}

/* Draws the tiles: sharp and warm around a moving spot, blurred and cool elsewhere. */
__global__ void tint(uchar4 *pixels, cudaTextureObject_t tiles, int side, float time)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side)
        return;
    const float u = (x + 0.5f) / side, v = (y + 0.5f) / side;
    const float dx = u - 0.5f - 0.25f * cosf(0.7f * time), dy = v - 0.5f - 0.25f * sinf(time);
    const float away = fminf(2.0f * sqrtf(dx * dx + dy * dy), 1.0f);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            const float reach = 0.02f * away;
            const float4 tile = tex2D<float4>(tiles, u + i * reach, v + j * reach);
            sum = make_float3(sum.x + tile.x, sum.y + tile.y, sum.z + tile.z);
        }
    const float scale = 255.0f / 9.0f;
    pixels[y * side + x] =
        make_uchar4((1.0f - 0.5f * away) * scale * sum.x + 0.5f,
                    (1.0f - 0.25f * away) * scale * sum.y + 0.5f, scale * sum.z + 0.5f, 255);
}

/* Draws tiles of four colours, with light joints. */
static void fillTiles(unsigned char *texels)
{
    static const unsigned char colours[4][3] = {
        {38, 130, 160}, {60, 170, 185}, {24, 96, 140}, {226, 160, 84}};
    for (int y = 0; y < IMAGE; y++)
        for (int x = 0; x < IMAGE; x++, texels += 4) {
            const int column = x / 16, row = y / 16;
            const bool joint = x % 16 == 0 || y % 16 == 0;
            const int kind = (column * column * 3 + row * row * 5 + column * row) % 13 % 4;
            for (int i = 0; i < 3; i++)
                texels[i] = joint ? 215 : colours[kind][i];
            texels[3] = 255;
        }
}

/* The indices: two triangles per square of four vertices. */
static void fillIndices(unsigned short *next)
{
    for (int y = 0; y < MESH - 1; y++)
        for (int x = 0; x < MESH - 1; x++) {
            const unsigned short corner = y * MESH + x;
            const unsigned short square[6] = {0, 1, MESH, MESH, 1, MESH + 1};
            for (int i = 0; i < 6; i++)
                *next++ = corner + square[i];
        }
}

static void readOptions(int argc, char **argv, int *frames, const char **picture)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--frames"))
            *frames = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "--picture"))
            *picture = argv[i + 1];
    }
}

/* Writes the first three bytes of each pixel. `top` is the first pixel of the highest row. */
static void writeRows(const char *path, const unsigned char *top, long pitch, int pixel)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "P6 %d %d 255\n", WINDOW, WINDOW);
    for (int y = 0; y < WINDOW; y++)
        for (int x = 0; x < WINDOW; x++)
            fwrite(top + y * pitch + x * pixel, 1, 3, file);
    fclose(file);
}
