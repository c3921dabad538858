/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels whose threads exit early for various conditions, in grids larger than the data. Each
 * element must be changed exactly once, and only if the condition of the kernel is true for it.
 */
#include "expect.h"

__device__ int asked;

__global__ void returns(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    out[i] += i;
}

__global__ void one_statement(int *out, unsigned n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x, twice = 2 * i;
    if (i < n && (twice & 2) == 0)
        out[i] += (int)i;
}

__global__ void a_block(int *out, int n)
{
    int i = __mul24(blockIdx.x, blockDim.x) + static_cast<int>(threadIdx.x);
    if (i < n) {
        int left = i;
        while (left > 0)
            left -= 2;
        out[i] += left == 0;
    }
}

/* The first condition prevents a division by zero in the second one. */
__global__ void several(int *out, int n, int step)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= (size_t)n)
        return;
    if (step == 0)
        return;
    const int rest = (int)i % step;
    if (rest != 1)
        return;
    out[i] += 1;
}

__global__ void an_else(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    else
        out[i] += 1;
}

/* This condition counts its evaluations, so it must not be evaluated twice. */
__global__ void counts(int *out, int n)
{
    const int before = atomicAdd(&asked, 1);
    if (before < 0)
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i += 1) > n)
        return;
    out[i - 1] += 1;
}

/* The condition reads an element that only its own thread writes. */
__global__ void memory(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || out[i] > 1000)
        return;
    out[i] += 1001;
}

__global__ void squares(int *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = threadIdx.z;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    out[(z * height + y) * width + x] += 1;
}

template <class T> __global__ void typed(T *out, T last)
{
    const T i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > last)
        return;
    out[i] += 1;
}

/* Threads that the first guard excludes must not access the memory that later conditions read. */
__global__ void casts(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int value = (int)*(in + i);
    if (value < 0)
        return;
    out[i] += value + 1;
}

__device__ int depth;

/* Whether a thread may continue depends on the threads that have run before. */
__global__ void pushes(int *out, int n)
{
    int at = depth;
    if (at < n) {
        out[at] += 1;
        depth = at + 1;
    }
}

/* The conditions declare variables. */
__global__ void declares(int *out, int n)
{
    if (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n)
        out[i] += 1;
}

__global__ void declares_one(int *out, int n)
{
    if (int left = n - (int)(blockIdx.x * blockDim.x + threadIdx.x); left > 0)
        if (int i = n - left + 1)
            out[i - 1] += 1;
}

/* A class whose conversion to int has a side effect. */
struct counter {
    __device__ operator int() const { return atomicAdd(&asked, 1); }
};

__global__ void converts(int *out, int n, counter count)
{
    int before = count;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || before < 0)
        return;
    out[i] += 1;
}

/* The indices exceed 2^31 and wrap around. */
__global__ void far(int *out, unsigned first)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < first)
        return;
    out[i - first] += 1;
}

static const int n = 1000, blocks = 9, threads = 128;

static int wanted(int kernel, int i)
{
    switch (kernel) {
    case 0:
        return i;
    case 1:
        return (2 * i & 2) == 0 ? i : 0;
    case 2:
        return i % 2 == 0;
    case 3:
        return i % 7 == 1;
    case 6:
        return 1001;
    default:
        return 1;
    }
}

static void launch(int kernel, int *out)
{
    switch (kernel) {
    case 0:
        return returns<<<blocks, threads>>>(out, n);
    case 1:
        return one_statement<<<blocks, threads>>>(out, n);
    case 2:
        return a_block<<<blocks, threads>>>(out, n);
    case 3:
        several<<<blocks, threads>>>(out, n, 0);
        return several<<<blocks, threads>>>(out, n, 7);
    case 4:
        return an_else<<<blocks, threads>>>(out, n);
    case 5:
        return counts<<<blocks, threads>>>(out, n);
    case 6:
        return memory<<<blocks, threads>>>(out, n);
    default:
        return typed<<<blocks, threads>>>(out, n - 1);
    }
}

static void lines()
{
    for (int kernel = 0; kernel < 8; kernel++) {
        numbers<int> out(n + blocks * threads);
        out.send();
        launch(kernel, out.device);
        out.fetch();
        for (int i = 0; i < n + blocks * threads; i++) {
            const int is = i < n ? wanted(kernel, i) : 0;
            EXPECT(out[i] == is, "kernel %d has %d at %d, expected %d", kernel, out[i], i, is);
        }
    }
}

static int times_asked()
{
    int times;
    CUDA(cudaMemcpyFromSymbol(&times, asked, sizeof(times)));
    return times;
}

static void what_memory_decides()
{
    const int few = 4;
    numbers<int> in(n), out(n);
    in.send();
    out.send();
    casts<<<blocks, threads>>>(in.device, out.device, n);
    pushes<<<1, 64>>>(out.device, few);
    out.fetch();
    EXPECT(out[0] > 1, "%d", out[0]);
    for (int i = few; i < n; i++)
        EXPECT(out[i] == 1, "%d at %d", out[i], i);
}

static void what_conditions_declare()
{
    const int before = times_asked();
    numbers<int> out(n + blocks * threads);
    out.send();
    declares<<<blocks, threads>>>(out.device, n);
    declares_one<<<blocks, threads>>>(out.device, n);
    converts<<<blocks, threads>>>(out.device, n, counter());
    out.fetch();
    for (int i = 0; i < n + blocks * threads; i++)
        EXPECT(out[i] == (i < n ? 3 : 0), "%d at %d", out[i], i);
    EXPECT(times_asked() - before == blocks * threads, "%d", times_asked() - before);
}

static void pictures()
{
    const int width = 37, height = 21, depth = 3;
    numbers<int> out(width * height * depth);
    out.send();
    squares<<<dim3(5, 6), dim3(8, 4, depth)>>>(out.device, width, height);
    out.fetch();
    for (int i = 0; i < width * height * depth; i++) {
        const int x = i % width, y = i / width % height;
        const int is = x > 0 && y > 0 && x < width - 1 && y < height - 1;
        EXPECT(out[i] == is, "%d at %d, %d", out[i], x, y);
    }
}

static void wrap()
{
    const unsigned size = 1024, count = (1u << 31) / size + 2, first = (1u << 31) - 512;
    numbers<int> out(512 + 2 * size);
    out.send();
    far<<<count, size>>>(out.device, first);
    out.fetch();
    for (unsigned i = 0; i < 512 + 2 * size; i++)
        EXPECT(out[i] == 1, "%d at %u", out[i], i);
}

int main(int argc, char *[])
{
    if (argc > 1) { /* this takes seconds */
        wrap();
        return 0;
    }
    lines();
    EXPECT(times_asked() == blocks * threads, "%d", times_asked());
    what_memory_decides();
    what_conditions_declare();
    pictures();
    return 0;
}
