/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A failed assertion ends the kernel, not the program. The context then returns cudaErrorAssert. */
#include <cassert>

#include "expect.h"

__global__ void counts(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        printf("printed before\n");
    out[i] = i;
    assert(i < n);
    out[i] = 0;
}

__device__ int checked(int value, unsigned most)
{
    __syncthreads();
    assert(threadIdx.x < most);
    return value;
}

__global__ void meets(int *out, unsigned most)
{
    __shared__ int sum;
    if (threadIdx.x == 0 && threadIdx.y == 0)
        sum = 0;
    atomicAdd(&sum, checked(1, most + (threadIdx.y == 0)));
    __syncthreads();
    *out = sum;
}

/* Successful assertions in a lambda, a local class and functions. */
__global__ void quiet(int *out)
{
    auto positive = [](int value) {
        assert(value > 0);
        return value;
    };
    struct local {
        static int even(int value)
        {
            assert((value & 1) == 0);
            return value;
        }
    };
    assert(positive(1) == 1 && "a message");
    *out = positive(3) + local::even(4);
}

#define NDEBUG
#include <cassert>
__global__ void without(int *out)
{
    assert(false);
    *out = 5;
}
#undef NDEBUG
#include <cassert>

static void expect_assertion(const char *what)
{
    int *more;
    EXPECT(cudaDeviceSynchronize() == cudaErrorAssert, "%s: got %s", what,
           cudaGetErrorName(cudaGetLastError()));
    EXPECT(cudaMalloc(&more, 4) == cudaErrorAssert, "%s: the context is still usable", what);
    CUDA(cudaDeviceReset());
}

static void expect_result(int *out, int expected)
{
    int got = 0;
    CUDA(cudaMemcpy(&got, out, sizeof(got), cudaMemcpyDeviceToHost));
    EXPECT(got == expected, "got %d", got);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    int *out;
    if (strcmp(what, "host") == 0)
        assert(argc == 0);
    CUDA(cudaMalloc(&out, 4096));
    if (strcmp(what, "loop") == 0) {
        counts<<<2, 4>>>(out, 5);
        expect_assertion(what);
    }
    if (strcmp(what, "barriers") == 0) {
        meets<<<1, dim3(3, 2)>>>(out, 2);
        expect_assertion(what);
    }
    CUDA(cudaMalloc(&out, 4096));
    quiet<<<1, 1>>>(out);
    expect_result(out, 7);
    without<<<1, 1>>>(out);
    expect_result(out, 5);
    meets<<<3, dim3(3, 2)>>>(out, 3);
    expect_result(out, 6);
    counts<<<2, 4>>>(out, 8);
    expect_result(out, 0);
    return 0;
}
