/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Calls in kernels that nvcc accepts although host functions have the same names. */
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

/* Functions for host and device: one function for both, or one for each. */
BOTH inline float blend(float a, float b)
{
    return 0.5f * (a + b);
}
constexpr int twice(int a)
{
    return 2 * a;
}
static inline constexpr int triple(int a)
{
    return 3 * a;
}
int pick(int a)
{
    return a;
}
__device__ float pick(float a)
{
    return a;
}
float min(float a, int b)
{
    return a < b ? a : b;
} /* an overload of a CUDA function */
double sqrt(const char *text)
{
    return strlen(text);
}
__device__ int later(int a);
int swap(int a)
{
    return a;
}

/* Host functions whose names have another meaning in a kernel. */
int helper(int a)
{
    return a;
}
int size(int a)
{
    return a;
}
int apply(int a)
{
    return a;
}
int area(int a)
{
    return a;
}
int scale(int a)
{
    return a;
}
int probe(int a)
{
    return a;
}
int unused_helper(int a)
{
    return a;
}
int other_side(int a)
{
    return a;
}

struct functor {
    int factor;
    BOTH functor(int a) : factor(a) {}
    BOTH int operator()(int a) const { return factor * a; }
};
struct shape {
    int width;
    __device__ int area() const { return width * width; }
    __device__ int whole() const { return area() + this->area(); }
};
namespace device
{
struct tools {
    static __device__ int scale(int a) { return a + 1; }
};
} // namespace device

BOTH int either(int a)
{
#ifdef __GRINTEROP_NVCC__
    return other_side(a);
#else
    return a;
#endif
}
/* nvcc generates no code for the functions below, so it does not check their calls. */
template <class T> __device__ T never(T a)
{
    return unused_helper(a);
}
template <class T> struct never_too {
    __device__ T get(T a) const { return unused_helper(a); }
};
static inline __device__ int nor_this(int a)
{
    return unused_helper(a);
}

template <class T, class F> __global__ void through(T *out, F apply)
{
    out[threadIdx.x] = apply(out[threadIdx.x]);
}

template <bool OnHost> __device__ int branch(int a)
{
    if constexpr (OnHost)
        return unused_helper(a);
    else
        return a;
}

__global__ void kernel(int *out, float *values, shape given, int (*function)(int))
{
    const auto helper = [=](int a) { return a + out[0]; };
    functor size(3);
    const functor &probe(size);
    const shape copies[2] = {given, given};
    out[0] = helper(2) + size(4) + probe(5) + given.area() + (&given)->area() + copies[1].area();
    out[1] = device::tools::scale(3) + twice(4) + triple(5) + later(6) + branch<false>(7);
    out[2] = sizeof(unused_helper(3)) + static_cast<int>(sizeof(decltype(unused_helper(1))));
    values[0] = pick(0.5f) + blend(1, 2) + min(1.0f, 2.0f) + sqrtf(2) + sqrt(2.0) + std::sqrt(2.0f);
    values[1] = fmaxf(1, 2) + std::max(1, 2) + std::min(1, 2) + std::abs(-2) + fabs(-2.0);
    int *grown = static_cast<int *>(malloc(4 * sizeof(int)));
    memset(grown, 0, 4 * sizeof(int));
    memcpy(out + 4, grown, 4 * sizeof(int));
    free(grown);
    assert(out != nullptr);
    printf("%d\n", out[0]);
    out[3] = either(2);
    if (function)
        out[3] = function(2);
}
__device__ int later(int a)
{
    return a;
}

int main()
{
    int *out;
    cudaMalloc(&out, 4096);
    through<<<1, 4>>>(out, functor(2));
    through<<<1, 4>>>(out, [] __device__(int a) { return a; });
    kernel<<<1, 1>>>(out, reinterpret_cast<float *>(out), shape{2}, nullptr);
    return helper(0) + size(0) + apply(0) + area(0) + scale(0) + probe(0) + swap(0) + pick(0) +
           cudaDeviceSynchronize();
}
