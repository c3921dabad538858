/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Uses __device__ functions and variables of another file. */
#include "expect.h"
#include "parts.h"

__global__ void rotate(int *data)
{
    data[threadIdx.x] = rotated(data[threadIdx.x]) * factors[3];
    atomicAdd(&total, data[threadIdx.x]);
}

int main()
{
    numbers<int> data(32);
    fill<<<1, 32>>>(data.device);
    rotate<<<1, 32>>>(data.device);
    data.fetch();
    const int factors_here[] = {2, 3, 5, 7};
    for (int i = 0; i < 32; i++)
        EXPECT(data[i] == 7 * factors_here[(i + 1) % 4], "%d at %d", data[i], i);
    int sum;
    CUDA(cudaMemcpyFromSymbol(&sum, total, sizeof(sum)));
    EXPECT(sum == 7 * 8 * 17, "%d", sum);
    return 0;
}
