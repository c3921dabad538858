/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A kernel that reads a texture object rotated by quarter turns, and a kernel that writes to a
 * surface.
 */
#include "expect.h"

__global__ void turn(float *out, int size, cudaTextureObject_t image)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    out[y * size + x] = tex2D<float>(image, y + 0.5f, size - 1 - x + 0.5f);
}

__global__ void paint(cudaSurfaceObject_t image, int size)
{
    const int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(static_cast<float>(y * size + x) + 0.25f, image, x * sizeof(float), y);
}

int main()
{
    const int size = 32;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocArray(&array, &format, size, size, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    CUDA(cudaCreateSurfaceObject(&surface, &resource));
    paint<<<size, size>>>(surface, size);
    numbers<float> out(size * size);
    turn<<<dim3(2, size), size / 2>>>(out.device, size, texture);
    out.fetch();
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            const float wanted = (size - 1 - x) * size + y + 0.25f;
            EXPECT(out[y * size + x] == wanted, "%g, expected %g at %d %d", out[y * size + x],
                   wanted, x, y);
        }
    CUDA(cudaDestroyTextureObject(texture));
    CUDA(cudaDestroySurfaceObject(surface));
    CUDA(cudaFreeArray(array));
    return 0;
}
