/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sums and scans of warps, written as before CUDA 9: the lanes of a warp run in lockstep where they
 * write `volatile` shared memory, or add each other's values.
 */
#include "expect.h"

/*
 * The loop in NVIDIA's lectures about reductions. Each lane reads the values that other lanes wrote
 * in the previous line.
 */
template <unsigned Size> __device__ void reduce_warp(volatile int *data, int i)
{
    if (Size >= 64)
        data[i] += data[i + 32];
    if (Size >= 32)
        data[i] += data[i + 16];
    data[i] += data[i + 8];
    data[i] += data[i + 4], data[i] += data[i + 2];
    data[i] += data[i + 1];
}

template <unsigned Size> __global__ void reduce(int *out, const int *in)
{
    extern __shared__ int data[];
    const unsigned i = threadIdx.x;
    data[i] = in[blockIdx.x * Size + i];
    __syncthreads();
    for (unsigned s = Size / 2; s > 32; s /= 2) {
        if (i < s)
            data[i] += data[i + s];
        __syncthreads();
    }
    if (i < 32)
        reduce_warp<Size>(data, i);
    if (i == 0)
        out[blockIdx.x] = data[0];
}

/* The reduction of the CUDA sample, with a local variable and a local pointer. */
__global__ void reduce_sample(float *out, const float *in)
{
    __shared__ float data[128];
    const unsigned i = threadIdx.x;
    float sum = in[i];
    data[i] = sum;
    __syncthreads();
    if (i < 64)
        data[i] = sum = sum + data[i + 64];
    __syncthreads();
    if (i < 32) {
        volatile float *mine = data;
        mine[i] = sum = sum + mine[i + 32];
        mine[i] = sum = sum + mine[i + 16];
        mine[i] = sum = sum + mine[i + 8];
        mine[i] = sum = sum + mine[i + 4];
        mine[i] = sum = sum + mine[i + 2];
        mine[i] = sum = sum + mine[i + 1];
    }
    if (i == 0)
        *out = data[0];
}

/* Each lane reads values of lower lanes, so no lane may write before all lanes have read. */
__global__ void scan(int *out, const int *in)
{
    volatile __shared__ int data[2][64];
    const int i = threadIdx.x, half = i / 32, lane = i % 32;
    data[half][lane] = in[i];
    if (lane >= 1)
        data[half][lane] += data[half][lane - 1];
    if (lane >= 2)
        data[half][lane] += data[half][lane - 2];
    if (lane >= 4)
        data[half][lane] += data[half][lane - 4];
    if (lane >= 8)
        data[half][lane] += data[half][lane - 8];
    if (lane >= 16)
        data[half][lane] += data[half][lane - 16];
    out[i] = data[half][lane];
}

/* A class without operator+, as programs may define it. */
struct pair {
    int a, b;
    __device__ pair &operator+=(const pair &other)
    {
        a += other.a;
        b += other.b;
        return *this;
    }
};

/*
 * Without `volatile`, the lanes of a pair add each other's values. The other half of the warp waits
 * at the barrier of the block.
 */
__device__ void add_pairs(pair sums[16], int i)
{
    sums[i] += sums[i ^ 8];
    sums[i] += sums[i ^ 4];
    sums[i] += sums[i ^ 2], sums[i] += sums[i ^ 1];
}

__global__ void exchange(int *out, const int *in)
{
    __shared__ pair sums[16];
    __shared__ int most[64];
    const int i = threadIdx.x;
    most[i] = in[i];
    if (i < 16)
        sums[i] = {in[i], 1};
    __syncthreads();
    if (i < 16)
        add_pairs(sums, i);
    for (int bit = 16; bit > 0; bit /= 2)
        most[i] = most[i] > most[i ^ bit] ? most[i] : most[i ^ bit];
    __syncthreads();
    out[i] = i < 32 ? 100 * sums[i % 16].a + sums[i % 16].b : most[i];
}

/* Contains every kind of write. After each write, the next lane reads the value. */
__global__ void kinds(unsigned *out)
{
    __shared__ volatile unsigned data[33];
    __shared__ volatile unsigned winner;
    const unsigned i = threadIdx.x, next = (i + 1) % 32;
    unsigned wrong = 0;
    data[i] = i;
    wrong |= (data[next] == next) ? 0 : 1u << 0;
    data[i]++;
    wrong |= (data[next] == next + 1) ? 0 : 1u << 1;
    --data[i];
    wrong |= (data[next] == next) ? 0 : 1u << 2;
    *(data + i) <<= 3;
    wrong |= (data[next] == 8 * next) ? 0 : 1u << 3;
    ((volatile unsigned *)data)[i] >>= 1;
    wrong |= (data[next] == 4 * next) ? 0 : 1u << 4;
    switch (i / 32) {
    case 0:
        data[i] ^= 1;
        break;
    }
    wrong |= (data[next] == 4 * next + 1) ? 0 : 1u << 5;
    data[i] %= 2, data[i] -= 1;
    wrong |= (data[next] == 0) ? 0 : 1u << 6;
    do
        data[i] |= 6;
    while (data[i] == 0);
    wrong |= (data[next] == 6) ? 0 : 1u << 7;
    if constexpr (sizeof(int) == 4)
        data[i] &= 2;
    else
        data[i] = 0;
    wrong |= (data[next] == 2) ? 0 : 1u << 8;
    winner = i;
    out[i] = wrong | winner << 16; /* all lanes read the same winner */
}

__host__ __device__ void put(volatile int *data, int i, int value)
{
    data[i] = value;
}

/*
 * Uses a lock of one word, and a flag in memory that all blocks share. Lanes must not wait for each
 * other when they write to the lock or the flag.
 */
__device__ void leave(volatile int *lock)
{
    *lock = 0;
}

__global__ void locked(int *lock, int *sum, int *flag)
{
    volatile int *raised = flag;
    if (threadIdx.x == 0)
        raised[blockIdx.x] = 1;
    while (raised[blockIdx.x] == 0)
        ;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *sum += 1;
    leave(lock);
}

static void test_sums()
{
    numbers<int> in(256), out(64), lock(3);
    numbers<float> values(128), sum(1);
    for (int i = 0; i < 256; i++)
        in[i] = i * 7 % 23 + 1;
    for (int i = 0; i < 128; i++)
        values[i] = i;
    in.send();
    values.send();
    int wanted = 0;
    reduce<256><<<1, 256, 256 * sizeof(int)>>>(out.device, in.device);
    out.fetch();
    for (int i = 0; i < 256; i++)
        wanted += in[i];
    EXPECT(out[0] == wanted, "%d, expected %d", out[0], wanted);
    reduce<64><<<4, 64, 64 * sizeof(int)>>>(out.device, in.device);
    out.fetch();
    EXPECT(out[0] + out[1] + out[2] + out[3] == wanted, "%d", out[0]);
    reduce_sample<<<1, 128>>>(sum.device, values.device);
    sum.fetch();
    EXPECT(sum[0] == 8128, "%g", sum[0]);
    scan<<<1, 64>>>(out.device, in.device);
    out.fetch();
    for (int i = 0; i < 64; i++) {
        wanted = (i % 32 ? wanted : 0) + in[i];
        EXPECT(out[i] == wanted, "%d, expected %d at %d", out[i], wanted, i);
    }
}

static void test_exchange()
{
    numbers<int> in(64), out(64);
    int sum = 0;
    for (int i = 0; i < 64; i++)
        in[i] = i * 7 % 23 + 1;
    for (int i = 0; i < 16; i++)
        sum += in[i];
    in.send();
    exchange<<<1, 64>>>(out.device, in.device);
    out.fetch();
    for (int i = 0; i < 64; i++) {
        const int wanted = i < 32 ? 100 * sum + 16 : 23;
        EXPECT(out[i] == wanted, "%d, expected %d at %d", out[i], wanted, i);
    }
}

int main()
{
    test_sums();
    test_exchange();
    numbers<int> lock(2), flag(1);
    numbers<unsigned> out(32);
    kinds<<<1, 32>>>(out.device);
    out.fetch();
    for (int i = 0; i < 32; i++)
        EXPECT((out[i] & 0xffff) == 0 && out[i] == out[0], "%x at %d", out[i], i);
    int plain[2] = {};
    put(plain, 1, 5);
    EXPECT(plain[1] == 5, "%d", plain[1]);
    lock.send();
    flag.send();
    locked<<<1, 64>>>(lock.device, lock.device + 1, flag.device);
    lock.fetch();
    EXPECT(lock[1] == 64, "%d", lock[1]);
    return 0;
}
