/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The filters of postprocess. They read the OpenGL picture through a texture object and write the
 * result through a surface object. Positions are in pixels; the texture clamps to its edge.
 *
 * Products and sums are rounded separately (__fmul_rn, __fadd_rn) instead of fused by nvcc, so that
 * a GPU and the software CUDA driver give the same bytes.
 */
#include "examples/support/grid.cuh"
#include "postprocess.h"

static __device__ float4 add_weighted(float4 sum, float weight, float4 colour)
{
    return make_float4(__fadd_rn(sum.x, __fmul_rn(weight, colour.x)),
                       __fadd_rn(sum.y, __fmul_rn(weight, colour.y)),
                       __fadd_rn(sum.z, __fmul_rn(weight, colour.z)),
                       __fadd_rn(sum.w, __fmul_rn(weight, colour.w)));
}

static __device__ unsigned char to_byte(float value)
{
    return (unsigned char)__fadd_rn(__fmul_rn(__saturatef(value), 255.0f), 0.5f);
}

/* Writes a pixel. Surfaces address x in bytes. */
static __device__ void write_pixel(cudaSurfaceObject_t out, int x, int y, float4 colour)
{
    const uchar4 bytes =
        make_uchar4(to_byte(colour.x), to_byte(colour.y), to_byte(colour.z), to_byte(colour.w));
    surf2Dwrite(bytes, out, x * (int)sizeof(bytes), y);
}

static __device__ float4 pixel_at(cudaTextureObject_t picture, int x, int y)
{
    return tex2D<float4>(picture, (float)x + 0.5f, (float)y + 0.5f);
}

/* The first pass of the blur. It runs along the rows, into CUDA memory at full float precision. */
extern "C" __global__ void blur_rows(cudaTextureObject_t picture, float4 *rows, int width,
                                     int height, gaussian g)
{
    int x, y;
    if (!find_point(width, height, &x, &y))
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = -g.radius; i <= g.radius; i++)
        sum = add_weighted(sum, g.weights[abs(i)], pixel_at(picture, x + i, y));
    rows[(size_t)y * (size_t)width + (size_t)x] = sum;
}

/* The second pass of the blur. It runs along the columns. */
extern "C" __global__ void blur_columns(const float4 *rows, cudaSurfaceObject_t out, int width,
                                        int height, gaussian g)
{
    int x, y;
    if (!find_point(width, height, &x, &y))
        return;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = -g.radius; i <= g.radius; i++) {
        const int row = min(max(y + i, 0), height - 1);
        sum = add_weighted(sum, g.weights[abs(i)], rows[(size_t)row * (size_t)width + (size_t)x]);
    }
    write_pixel(out, x, y, sum);
}

static __device__ float length_of(float across, float down)
{
    return __fsqrt_rn(__fadd_rn(__fmul_rn(across, across), __fmul_rn(down, down)));
}

/*
 * The filter sobel: the gradient of each colour, so that an edge glows in the colour that changes.
 */
extern "C" __global__ void sobel(cudaTextureObject_t picture, cudaSurfaceObject_t out, int width,
                                 int height)
{
    int x, y;
    if (!find_point(width, height, &x, &y))
        return;
    float4 across = make_float4(0.0f, 0.0f, 0.0f, 0.0f), down = across;
    for (int i = -1; i <= 1; i++) {
        const float weight = i == 0 ? 2.0f : 1.0f;
        across = add_weighted(across, -weight, pixel_at(picture, x - 1, y + i));
        across = add_weighted(across, weight, pixel_at(picture, x + 1, y + i));
        down = add_weighted(down, -weight, pixel_at(picture, x + i, y - 1));
        down = add_weighted(down, weight, pixel_at(picture, x + i, y + 1));
    }
    write_pixel(out, x, y,
                make_float4(length_of(across.x, down.x), length_of(across.y, down.y),
                            length_of(across.z, down.z), 1.0f));
}

GR_KERNEL(blur_rows)
GR_KERNEL(blur_columns)
GR_KERNEL(sobel)
