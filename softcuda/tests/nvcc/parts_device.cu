/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "parts.h"

__device__ int total;
__constant__ int factors[4] = {2, 3, 5, 7};

/* Contains a barrier, which is not visible in the file with the kernel. */
__device__ int rotated(int value)
{
    __shared__ int all[32];
    all[threadIdx.x] = value;
    __syncthreads();
    return all[(threadIdx.x + 1) % 32];
}

__global__ void fill(int *out)
{
    out[threadIdx.x] = factors[threadIdx.x % 4];
}
