/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A separable filter. The kernel for rows uses static shared memory, the kernel for columns uses
 * dynamic shared memory, and the weights are in constant memory.
 */
#include "expect.h"

#define RADIUS 3
#define TILE   32

__constant__ int weights[2 * RADIUS + 1];
__device__ unsigned int columns_done;

__global__ void rows(int *out, const int *in, int width)
{
    __shared__ int line[TILE + 2 * RADIUS];
    const int x = blockIdx.x * TILE + threadIdx.x - RADIUS;
    const int *row = in + blockIdx.y * width;
    line[threadIdx.x] = x >= 0 && x < width ? row[x] : 0;
    __syncthreads();
    if (threadIdx.x >= TILE)
        return;
    int sum = 0;
#pragma unroll
    for (int i = 0; i <= 2 * RADIUS; i++)
        sum += weights[i] * line[threadIdx.x + i];
    out[blockIdx.y * width + x + RADIUS] = sum;
}

/* Each block filters a whole column. */
__global__ void columns(int *out, const int *in, int width, int height)
{
    extern __shared__ __align__(16) int column[];
    const int x = blockIdx.x;
    column[threadIdx.x] = in[threadIdx.x * width + x];
    __syncthreads();
    int sum = 0;
    for (int i = -RADIUS; i <= RADIUS; i++) {
        const int y = (int)threadIdx.x + i;
        sum += y >= 0 && y < height ? weights[i + RADIUS] * column[y] : 0;
    }
    out[threadIdx.x * width + x] = sum;
    if (threadIdx.x == 0)
        atomicAdd(&columns_done, 1);
}

static int at(numbers<int> &image, int x, int y, int width, int height)
{
    return x >= 0 && x < width && y >= 0 && y < height ? image[y * width + x] : 0;
}

int main()
{
    const int width = 96, height = 50;
    const int given[2 * RADIUS + 1] = {1, -2, 5, 7, 11, -13, 17};
    numbers<int> in(width * height), between(width * height), out(width * height);
    for (int i = 0; i < width * height; i++)
        in[i] = i * 7919 % 1009 - 500;
    in.send();
    CUDA(cudaMemcpyToSymbol(weights, given, sizeof(given)));
    rows<<<dim3(width / TILE, height), TILE + 2 * RADIUS>>>(between.device, in.device, width);
    columns<<<width, height, height * sizeof(int), 0>>>(out.device, between.device, width, height);
    out.fetch();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int sum = 0;
            for (int j = -RADIUS; j <= RADIUS; j++)
                for (int i = -RADIUS; i <= RADIUS; i++)
                    sum +=
                        given[i + RADIUS] * given[j + RADIUS] * at(in, x + i, y + j, width, height);
            EXPECT(out[y * width + x] == sum, "%d, expected %d at %d %d", out[y * width + x], sum,
                   x, y);
        }
    unsigned done;
    CUDA(cudaMemcpyFromSymbol(&done, columns_done, sizeof(done)));
    EXPECT(done == width, "%u", done);
    size_t size;
    void *address;
    CUDA(cudaGetSymbolSize(&size, weights));
    CUDA(cudaGetSymbolAddress(&address, weights));
    EXPECT(size == sizeof(given), "%zu", size);
    int back[2 * RADIUS + 1];
    CUDA(cudaMemcpy(back, address, sizeof(back), cudaMemcpyDeviceToHost));
    EXPECT(memcmp(back, given, sizeof(back)) == 0, "other weights");
    return 0;
}
