/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels that are templates, overloaded, static or in namespaces. They are launched in macros and
 * templates, by their addresses, with a functor, and with a lambda.
 */
#include "expect.h"

namespace shop
{
namespace tools
{
template <typename T, int Factor = 2>
__global__ void scale(T *__restrict__ out, const T *const __restrict__ in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * Factor;
}
} // namespace tools

struct pair {
    int first, second;
};

static __global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

static __global__ void fill(float *out, float value)
{
    out[threadIdx.x] = value;
}
} // namespace shop

struct add {
    int term;
    __host__ __device__ int operator()(int x) const { return x + term; }
};

/* Contains a barrier, so each kernel that uses this class may reach a barrier. */
struct neighbour {
    __device__ int operator()(int x) const
    {
        __shared__ int all[64];
        all[threadIdx.x] = x;
        __syncthreads();
        return all[(threadIdx.x + 1) % 64];
    }
};

template <class F> __global__ void apply(int *data, F f)
{
    data[threadIdx.x] = f(data[threadIdx.x]);
}

template <> __global__ void apply<long>(int *data, long value)
{
    data[threadIdx.x] = -(int)value;
}

template <class T, class U> __global__ void unnamed(T *out, const T *__restrict__ in, U, int n = 4)
{
    out[threadIdx.x] = in[threadIdx.x] + n;
}

/* Parameters that are not used have only a type. */
template <>
__global__ void unnamed<double, int>(double *out, const double *__restrict__, int, int n)
{
    out[threadIdx.x] = n;
}

template <>
__global__ void unnamed<float, shop::pair>(float *out, const float *, const shop::pair, int)
{
    out[threadIdx.x] = 0.5f;
}

#define LAUNCH(kernel, count, ...) kernel<<<1, count>>>(__VA_ARGS__)

template <typename T> struct launcher {
    template <int N> static void run(T *out, const T *in, int n)
    {
        shop::tools::scale<T, N><<<(n + 31) / 32, 32>>>(out, in, n);
    }
};

__device__ int twice(int x)
{
    return 2 * x;
}

__device__ int thrice(int x)
{
    return 3 * x;
}

typedef int (*function)(int);
__device__ function table[] = {twice, thrice};

__global__ void by_table(int *data, int which)
{
    data[threadIdx.x] = table[which](data[threadIdx.x]);
}

template <typename... Terms> __global__ void sum(int *out, Terms... terms)
{
    *out = (0 + ... + terms);
}

static void test_templates()
{
    numbers<int> in(64), out(64);
    for (int i = 0; i < 64; i++)
        in[i] = 3 * i;
    in.send();
    shop::tools::scale<int><<<2, 32>>>(out.device, in.device, 64);
    out.fetch();
    EXPECT(out[63] == 2 * 189, "%d", out[63]);
    launcher<int>::run<5>(out.device, in.device, 64);
    out.fetch();
    EXPECT(out[1] == 15 && out[63] == 5 * 189, "%d %d", out[1], out[63]);
    LAUNCH((shop::tools::scale<int, 7>), 64, out.device, in.device, 64);
    out.fetch();
    EXPECT(out[2] == 42, "%d", out[2]);
    sum<<<1, 1>>>(out.device, 1, 20, 300);
    out.fetch();
    EXPECT(out[0] == 321, "%d", out[0]);
}

static void test_overloads()
{
    numbers<int> whole(8);
    numbers<float> real(8);
    shop::fill<<<1, 8>>>(whole.device, 7);
    shop::fill<<<1, 8>>>(real.device, 2);
    whole.fetch();
    real.fetch();
    EXPECT(whole[7] == 7 && real[7] == 2.0f, "%d %g", whole[7], real[7]);
}

static void test_unnamed()
{
    numbers<double> d(4);
    numbers<float> f(4);
    unnamed<<<1, 4>>>(d.device, d.device, 0, 5);
    unnamed<<<1, 4>>>(f.device, f.device, shop::pair(), 5);
    d.fetch();
    f.fetch();
    EXPECT(d[3] == 5 && f[3] == 0.5f, "%g %g", d[3], f[3]);
    unnamed<<<1, 4>>>(f.device, f.device, 0L, 2);
    f.fetch();
    EXPECT(f[3] == 2.5f, "%g", f[3]);
    int n = 7, unused = 0;
    void *arguments[] = {&d.device, &d.device, &unused, &n};
    CUDA(cudaLaunchKernel(unnamed<double, int>, dim3(1), dim3(4), arguments));
    d.fetch();
    EXPECT(d[0] == 7, "%g", d[0]);
}

static void test_functors()
{
    numbers<int> data(64);
    for (int i = 0; i < 64; i++)
        data[i] = i;
    data.send();
    apply<<<1, 64>>>(data.device, add{5});
    apply<<<1, 64>>>(data.device, neighbour());
    const int more = 100;
    apply<<<1, 64>>>(data.device, [=] __device__(int x) { return x + more; });
    data.fetch();
    for (int i = 0; i < 64; i++)
        EXPECT(data[i] == (i + 1) % 64 + 105, "%d at %d", data[i], i);
    apply<long><<<1, 64>>>(data.device, 9);
    by_table<<<1, 64>>>(data.device, 1);
    data.fetch();
    EXPECT(data[63] == -27, "%d", data[63]);
}

static void test_addresses()
{
    numbers<int> in(64), out(64);
    for (int i = 0; i < 64; i++)
        in[i] = i;
    in.send();
    int n = 64;
    void *arguments[] = {&out.device, &in.device, &n};
    CUDA(cudaLaunchKernel(shop::tools::scale<int, 3>, dim3(2), dim3(32), arguments));
    out.fetch();
    EXPECT(out[63] == 189, "%d", out[63]);
    void (*kernel)(int *, const int *, int) = shop::tools::scale<int, 4>;
    CUDA(cudaLaunchKernel((const void *)kernel, dim3(2), dim3(32), arguments, 0, 0));
    out.fetch();
    EXPECT(out[63] == 252, "%d", out[63]);
    kernel<<<2, 32>>>(out.device, in.device, 2);
    void (*kernels[])(int *, int) = {by_table};
    kernels[0]<<<1, 64>>>(out.device, 0);
    (n ? kernels[0] : by_table)<<<1, 64>>>(out.device, 0);
    out.fetch();
    EXPECT(out[1] == 16, "%d", out[1]);
    cudaFuncAttributes attributes;
    CUDA(cudaFuncGetAttributes(&attributes, by_table));
    EXPECT(attributes.maxThreadsPerBlock == 1024, "%d", attributes.maxThreadsPerBlock);
}

int main()
{
    test_templates();
    test_overloads();
    test_unnamed();
    test_functors();
    test_addresses();
    return 0;
}
