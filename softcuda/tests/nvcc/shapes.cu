/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Source text that may confuse a parser of tokens. */
#include "expect.h"

#include <vector>

/* kernel<<<1, 1>>>() in a comment, 'quotes" and "quotes', and a } brace. */
static const char *const text = "kernel<<<1, 1>>>(\"__global__\"); }";
static const char *const raw = R"raw(
__global__ void not_one() { __shared__ int x[1]; "}} <<<
)raw";
static const char brace = '{', quote = '\'';
static const int separated = 1'000'000;

/* Members and local variables may have the same names as the built-in variables. */
struct shape {
    dim3 gridDim, blockDim;
    int threadIdx = 3;
    std::vector<std::vector<std::vector<int>>> nested;
};

__host__ __device__ inline constexpr int half_of(int x)
{
    return x >> 1;
}

__device__ __forceinline__ int clamped(int x, int low = 0, int high = 100)
{
    return x < low ? low : x > high ? high : x;
}

__device__ __noinline__ unsigned place()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(64, 2) odd(int *__restrict__ out, const int n = 7);

__global__ void odd(int *out, const int)
{
    struct local {
        int at;
        __device__ int next() const { return at + (int)threadIdx.x; }
    };
    auto twice = [&](int x) { return x + x + (int)blockDim.x; };
    const local here = {half_of(2000)};
    out[place()] = twice(clamped(here.next(), 0, 1010));
}

template <int A, bool B = (A > 3)> struct choice {
    static const int value = B ? A : -A;
};

template <class T, template <int, bool> class C> __global__ void chosen(T *out, T (*)[2])
{
    *out = C<4, true>::value + C<2, (1 < 2)>::value;
}

struct big {
    float values[200];
    __host__ __device__ big()
    {
        for (int i = 0; i < 200; i++)
            values[i] = i;
    }
    __host__ __device__ big(const big &other) { memcpy(values, other.values, sizeof(values)); }
};

__global__ void sum_big(float *out, big b)
{
    float sum = 0;
    for (float value : b.values)
        sum += value;
    b.values[0] = 1e9f; /* changes only the copy of this thread */
    out[threadIdx.x] = sum;
}

__global__ void shared_shapes(int *out)
{
    __shared__ struct {
        int a[4];
        short b;
    } s;
    volatile __shared__ int v;
    static __shared__ int grid[2][3], single;
    if (threadIdx.x == 0) {
        s.a[2] = 5;
        s.b = 6;
        v = 7;
        grid[1][2] = 8;
        single = 9;
    }
    __syncthreads();
    out[threadIdx.x] = s.a[2] + 10 * s.b + 100 * v + 1000 * grid[1][2] + 10000 * single;
}

extern __shared__ int wide[][4];

__global__ void file_scope(int *out)
{
    wide[threadIdx.x][1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = wide[blockDim.x - 1 - threadIdx.x][1];
}

static void run(int *out, shape s)
{
    if (s.threadIdx == 3)
        odd<<<s.gridDim, s.blockDim>>>(out, 7);
    else
        odd<<<1, 1>>>(out, 7);
    for (int i = 0; i < 2; i++)
        shared_shapes<<<1, 32, 0, 0>>>(out + 64);
}

int main()
{
    numbers<int> out(128);
    numbers<float> real(32);
    shape s;
    s.gridDim = 2, s.blockDim = dim3(32);
    s.nested.resize(separated / 1000000);
    run(out.device, s);
    file_scope<<<1, 32, 32 * 4 * sizeof(int)>>>(out.device + 96);
    sum_big<<<1, 32>>>(real.device, big());
    out.fetch();
    real.fetch();
    EXPECT(out[0] == 2 * 1000 + 32 && out[63] == 2 * 1010 + 32, "%d %d", out[0], out[63]);
    EXPECT(out[95] == 98765, "%d", out[95]);
    EXPECT(out[96] == 31 && out[127] == 0, "%d %d", out[96], out[127]);
    EXPECT(real[0] == 19900 && real[31] == 19900, "%g", real[31]);
    chosen<int, choice><<<1, 1>>>(out.device, nullptr);
    out.fetch();
    EXPECT(out[0] == 6, "%d", out[0]);
    EXPECT(strlen(text) == 33 && strlen(raw) == 58 && brace + quote == 162, "%zu %zu %d",
           strlen(text), strlen(raw), brace + quote);
    return 0;
}
