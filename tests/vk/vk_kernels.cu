/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels over 1D, layered and cube surfaces, which CUDA does not have for OpenGL images. Elements
 * are consecutive in linear memory: rows, then layers or slices. The x coordinate of a surface is
 * in bytes.
 */
#include <grinterop/cuhost.h>

/* The position of the element of a thread. */
#define X     (i % width * 4)
#define Y     (i / width % height)
#define LAYER (i / width / height)

#define LAYER_KERNELS(name, write, read)                                                           \
    extern "C" __global__ void store_##name(unsigned long long surface, const uchar4 *in,          \
                                            int width, int height, int layers)                     \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < width * height * layers)                                                           \
            write;                                                                                 \
    }                                                                                              \
    GR_KERNEL(store_##name)                                                                        \
    extern "C" __global__ void load_##name(unsigned long long surface, uchar4 *out, int width,     \
                                           int height, int layers)                                 \
    {                                                                                              \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
        if (i < width * height * layers)                                                           \
            out[i] = read;                                                                         \
    }                                                                                              \
    GR_KERNEL(load_##name)

LAYER_KERNELS(1d, surf1Dwrite(in[i], surface, X), surf1Dread<uchar4>(surface, X))
LAYER_KERNELS(2d, surf2Dwrite(in[i], surface, X, Y), surf2Dread<uchar4>(surface, X, Y))
LAYER_KERNELS(3d, surf3Dwrite(in[i], surface, X, Y, LAYER),
              surf3Dread<uchar4>(surface, X, Y, LAYER))
LAYER_KERNELS(1d_layers, surf1DLayeredwrite(in[i], surface, X, LAYER),
              surf1DLayeredread<uchar4>(surface, X, LAYER))
LAYER_KERNELS(2d_layers, surf2DLayeredwrite(in[i], surface, X, Y, LAYER),
              surf2DLayeredread<uchar4>(surface, X, Y, LAYER))
LAYER_KERNELS(cube, surfCubemapwrite(in[i], surface, X, Y, LAYER),
              surfCubemapread<uchar4>(surface, X, Y, LAYER))
LAYER_KERNELS(cube_layers, surfCubemapLayeredwrite(in[i], surface, X, Y, LAYER),
              surfCubemapLayeredread<uchar4>(surface, X, Y, LAYER))
