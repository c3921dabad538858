/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Managed variables. The declarations have __managed__ in each of the three places where it is
 * allowed.
 */
#include "expect.h"

__managed__ int counts[5] = {1, 2, 3, 4, 5};
__device__ __managed__ float sum, scale = 0.5f;
static int __managed__ hidden;
__device__ int plain;

__global__ void add(int by)
{
    counts[threadIdx.x] += by;
    if (threadIdx.x == 0) {
        hidden = by;
        plain = by;
        sum = scale * (float)by;
    }
}

static cudaMemoryType type_of(const void *pointer)
{
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
}

int main()
{
    EXPECT(type_of(counts) == cudaMemoryTypeManaged, "counts");
    EXPECT(type_of(counts + 4) == cudaMemoryTypeManaged, "its end");
    EXPECT(type_of(&sum) == cudaMemoryTypeManaged, "sum");
    EXPECT(type_of(&scale) == cudaMemoryTypeManaged, "scale");
    EXPECT(type_of(&hidden) == cudaMemoryTypeManaged, "hidden");
    EXPECT(type_of(&plain) == cudaMemoryTypeUnregistered, "a __device__ variable");
    add<<<1, 5>>>(10);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++)
        EXPECT(counts[i] == i + 11, "counts[%d] is %d", i, counts[i]);
    EXPECT(hidden == 10 && sum == 5.0f, "%d and %g", hidden, (double)sum);
    return 0;
}
