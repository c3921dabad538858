/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A prefix sum with warp functions, a reduction with templates, histograms with atomics, and half
 * precision.
 */
#include "expect.h"

#include <cuda_fp16.h>

__device__ int warp_scan(int value)
{
    const int lane = threadIdx.x % warpSize;
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step)
            value += below;
    }
    return value;
}

__global__ void scan(int *out, const int *in)
{
    __shared__ int ends[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = warp_scan(in[threadIdx.x]);
    if (lane == 31)
        ends[warp] = value;
    __syncthreads();
    if (warp == 0)
        ends[lane] = warp_scan(lane < (int)blockDim.x / 32 ? ends[lane] : 0);
    __syncthreads();
    out[threadIdx.x] = value + (warp > 0 ? ends[warp - 1] : 0);
}

template <class T> struct shared_memory {
    __device__ inline operator T *()
    {
        extern __shared__ int memory[];
        return (T *)memory;
    }
};

template <class T, unsigned Size> __global__ void reduce(T *out, const T *in)
{
    T *data = shared_memory<T>();
    data[threadIdx.x] = in[blockIdx.x * Size + threadIdx.x];
    __syncthreads();
    for (unsigned step = Size / 2; step >= 32; step /= 2) {
        if (threadIdx.x < step)
            data[threadIdx.x] += data[threadIdx.x + step];
        __syncthreads();
    }
    T sum = data[threadIdx.x % 32];
    if (threadIdx.x < 32) {
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

__global__ void histogram(unsigned *bins, const int *in, int n)
{
    __shared__ unsigned mine[16];
    if (threadIdx.x < 16)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] & 15], 1u);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(bins + threadIdx.x, mine[threadIdx.x]);
    if (threadIdx.x == 0)
        atomicMax(bins + 16, blockIdx.x);
}

__global__ void votes(unsigned *out)
{
    out[threadIdx.x] = __ballot_sync(0xffffffff, threadIdx.x & 1);
    out[32 + threadIdx.x] = __reduce_add_sync(0xffffffff, threadIdx.x);
    out[64 + threadIdx.x] = __popc(__match_any_sync(0xffffffff, threadIdx.x % 5));
}

__global__ void halves(__half *data)
{
    __half2 two = __half2half2(data[threadIdx.x]);
    two = __hfma2(two, __float2half2_rn(2.0f), __float2half2_rn(1.0f));
    data[threadIdx.x] = hsqrt(__low2half(two)) + __shfl_xor_sync(0xffffffff, data[threadIdx.x], 1);
}

static void test_numbers()
{
    numbers<int> in(1024), out(1024);
    numbers<unsigned> bins(96);
    int sum = 0;
    unsigned wanted[16] = {};
    for (int i = 0; i < 1024; i++) {
        in[i] = i * 7 % 23;
        wanted[in[i] & 15]++;
    }
    in.send();
    bins.send();
    scan<<<1, 1024>>>(out.device, in.device);
    histogram<<<4, 64>>>(bins.device, in.device, 1024);
    out.fetch();
    bins.fetch();
    for (int i = 0; i < 1024; i++) {
        sum += in[i];
        EXPECT(out[i] == sum, "%d, expected %d at %d", out[i], sum, i);
    }
    EXPECT(memcmp(bins.host, wanted, sizeof(wanted)) == 0 && bins[16] == 3, "other bins");
    reduce<int, 256><<<4, 256, 256 * sizeof(int)>>>(out.device, in.device);
    out.fetch();
    EXPECT(out[0] + out[1] + out[2] + out[3] == sum, "%d", out[0]);
    votes<<<1, 32>>>(bins.device);
    bins.fetch();
    EXPECT(bins[0] == 0xaaaaaaaa && bins[63] == 496 && bins[64] == 7 && bins[66] == 6,
           "%x %u %u %u", bins[0], bins[63], bins[64], bins[66]);
}

int main()
{
    test_numbers();
    numbers<double> in(128), out(1);
    for (int i = 0; i < 128; i++)
        in[i] = i + 0.5;
    in.send();
    reduce<double, 128><<<1, 128, 128 * sizeof(double)>>>(out.device, in.device);
    out.fetch();
    EXPECT(out[0] == 8192, "%g", out[0]);
    numbers<__half> data(32);
    for (int i = 0; i < 32; i++)
        data[i] = __float2half(i == 4 ? 4.0f : 0.0f);
    data.send();
    halves<<<1, 32>>>(data.device);
    data.fetch();
    EXPECT(__half2float(data[4]) == 3.0f && __half2float(data[5]) == 5.0f, "%g %g",
           __half2float(data[4]), __half2float(data[5]));
    return 0;
}
