// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels of bench_softcuda. loops_openmp.cc contains the same loops.
#include <grinterop/cuhost.h>

extern "C" __global__ void saxpy(float *y, const float *x, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 0.5f * x[i] + y[i];
}
GR_KERNEL(saxpy)

extern "C" __global__ void polynomial(float *y, const float *x, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float v = x[i];
    float sum = 0.5f;
    for (int k = 0; k < 8; k++)
        sum = sum * v + 0.25f;
    y[i] = sum / (1.0f + v * v);
}
GR_KERNEL(polynomial)

extern "C" __global__ void stencil(float *to, const float *from, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const int i = y * width + x;
    to[i] =
        0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}
GR_KERNEL(stencil)

extern "C" __global__ void nothing(void)
{
}
GR_KERNEL(nothing)

// Each block adds its numbers, by a tree in shared memory.
extern "C" __global__ void sum_tree(unsigned *sums, const unsigned *from)
{
    __shared__ unsigned part[1024];
    const unsigned me = threadIdx.x;
    part[me] = from[blockIdx.x * blockDim.x + me];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (me < half)
            part[me] += part[me + half];
        __syncthreads();
    }
    if (me == 0)
        sums[blockIdx.x] = part[0];
}
GR_KERNEL_SYNC(sum_tree)

// The same sums without barriers: one thread does the work of a block of sum_tree.
extern "C" __global__ void sum_row(unsigned *sums, const unsigned *from, unsigned rows,
                                   unsigned width)
{
    const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    unsigned sum = 0;
    for (unsigned i = 0; i < width; i++)
        sum += from[row * width + i];
    sums[row] = sum;
}
GR_KERNEL(sum_row)

// Only executes barriers.
extern "C" __global__ void meet(unsigned *out, unsigned rounds)
{
    unsigned mine = threadIdx.x;
    for (unsigned i = 0; i < rounds; i++) {
        __syncthreads();
        mine += i;
    }
    out[threadIdx.x] = mine;
}
GR_KERNEL_SYNC(meet)
