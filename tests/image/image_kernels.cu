/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Image kernels for the tests. The first kernels copy between a surface and linear memory, one
 * element per thread. The others sample a texture at positions that the host passes.
 */
#include <grinterop/cuhost.h>

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* Rows are contiguous in linear memory. The x coordinate of a surface is in bytes. */
#define SURFACE_KERNELS(name, T)                                                                   \
    extern "C" __global__ void store_##name(unsigned long long surface, const T *in, int width,    \
                                            int height)                                            \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < width * height)                                                                    \
            surf2Dwrite(in[i], surface, i % width * (int)sizeof(T), i / width);                    \
    }                                                                                              \
    GR_KERNEL(store_##name)                                                                        \
    extern "C" __global__ void load_##name(unsigned long long surface, T *out, int width,          \
                                           int height)                                             \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < width * height)                                                                    \
            out[i] = surf2Dread<T>(surface, i % width * (int)sizeof(T), i / width);                \
    }                                                                                              \
    GR_KERNEL(load_##name)

SURFACE_KERNELS(uint8x1, unsigned char)
SURFACE_KERNELS(uint8x2, uchar2)
SURFACE_KERNELS(uint8x4, uchar4)
SURFACE_KERNELS(sint8x1, signed char)
SURFACE_KERNELS(sint8x2, char2)
SURFACE_KERNELS(sint8x4, char4)
SURFACE_KERNELS(uint16x1, unsigned short)
SURFACE_KERNELS(uint16x2, ushort2)
SURFACE_KERNELS(uint16x4, ushort4)
SURFACE_KERNELS(sint16x1, short)
SURFACE_KERNELS(sint16x2, short2)
SURFACE_KERNELS(sint16x4, short4)
SURFACE_KERNELS(uint32x1, unsigned)
SURFACE_KERNELS(uint32x2, uint2)
SURFACE_KERNELS(uint32x4, uint4)
SURFACE_KERNELS(sint32x1, int)
SURFACE_KERNELS(sint32x2, int2)
SURFACE_KERNELS(sint32x4, int4)
SURFACE_KERNELS(floatx1, float)
SURFACE_KERNELS(floatx2, float2)
SURFACE_KERNELS(floatx4, float4)

extern "C" __global__ void store_3d(unsigned long long surface, const uchar4 *in, int width,
                                    int height, int depth)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), slice = width * height;
    if (i < slice * depth)
        surf3Dwrite(in[i], surface, i % width * 4, i / width % height, i / slice);
}
GR_KERNEL(store_3d)

/* ---- Textures -------------------------------------------------------------------------------- */

/* A position has four numbers: x, y, z or the layer, and the level. */
#define TEXTURE_KERNEL(name, T, value)                                                             \
    extern "C" __global__ void name(unsigned long long texture, T *out, const float4 *places,      \
                                    int count)                                                     \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < count) {                                                                           \
            float4 at = places[i];                                                                 \
            out[i] = value;                                                                        \
        }                                                                                          \
    }                                                                                              \
    GR_KERNEL(name)

TEXTURE_KERNEL(sample_2d, float4, tex2D<float4>(texture, at.x, at.y))
TEXTURE_KERNEL(sample_2d_uchar, uchar4, tex2D<uchar4>(texture, at.x, at.y))
TEXTURE_KERNEL(sample_2d_uint, uint4, tex2D<uint4>(texture, at.x, at.y))
TEXTURE_KERNEL(sample_3d, float4, tex3D<float4>(texture, at.x, at.y, at.z))
TEXTURE_KERNEL(sample_2d_lod, float4, tex2DLod<float4>(texture, at.x, at.y, at.w))
TEXTURE_KERNEL(sample_layer, float4, tex2DLayered<float4>(texture, at.x, at.y, (int)at.z))
TEXTURE_KERNEL(sample_layer_lod, float4,
               tex2DLayeredLod<float4>(texture, at.x, at.y, (int)at.z, at.w))
TEXTURE_KERNEL(sample_cube, float4, texCubemap<float4>(texture, at.x, at.y, at.z))
TEXTURE_KERNEL(sample_cube_lod, float4, texCubemapLod<float4>(texture, at.x, at.y, at.z, at.w))
