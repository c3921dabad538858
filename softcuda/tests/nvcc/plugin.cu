/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A library with a managed variable, which plugin_main.cu loads. */
#include "expect.h"

static __managed__ int values[1 << 20];

__global__ void fill(int value)
{
    values[threadIdx.x] = value;
}

extern "C" int *start_plugin()
{
    fill<<<1, 32>>>(5);
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    return values;
}
