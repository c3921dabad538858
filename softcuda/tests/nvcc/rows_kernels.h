/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels that may run as rows of many blocks, and kernels that look similar but may not run as
 * such rows.
 */
#ifndef GR_TESTS_ROWS_KERNELS_H
#define GR_TESTS_ROWS_KERNELS_H

/* ---- One index, written in different ways ---------------------------------------------------- */

__global__ void line_int(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += 3 * i + 1;
}

__global__ void line_swapped(int *out, int n)
{
    const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    if (!n || i >= (unsigned)n)
        return;
    out[i] += 3 * i + 1;
}

__global__ void line_size(int *out, int n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x, count = n;
    if (count <= i)
        return;
    out[i] += 3 * i + 1;
}

__global__ void line_casts(int *out, int n)
{
    const int at = (int)((unsigned)__umul24(blockDim.x, blockIdx.x) + (threadIdx.x)), i = at;
    if (!(n > 0))
        return;
    if (((int)i >= n))
        return;
    out[i] += 3 * i + 1;
}

__global__ void line_used_twice(int *out, int n)
{
    if (int((blockIdx.x * blockDim.x) + threadIdx.x) >= n)
        return;
    out[blockIdx.x * blockDim.x + threadIdx.x] += 3 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
}

__global__ void line_changes(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    i = n - 1 - i;
    n = 3 * i;
    out[i++] += n + 1;
}

/* Writes the same type that it reads, so *count might be one of the elements. */
__global__ void line_unguarded(unsigned *out, const unsigned *count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned local[3] = {i, i, i};
    for (unsigned k = 0; k < *count; k++)
        local[k % 3] += 1;
    out[i] += local[0] + local[1] + local[2] - *count + 1;
}

/* ---- Conditions ------------------------------------------------------------------------------ */

__global__ void between(int *out, int low, int high, int on)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= low && high > i && on) {
        out[i] += 1;
    }
}

__global__ void outside(int *out, int low, int high, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i >= low && i < high)
        return;
    out[i] += 1;
}

__global__ void either(int *out, int low, int high, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < low || (i >= high && i < n))
        out[i] += 1;
}

__global__ void wraps(int *out, int low, int high)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, from = i - low;
    if (from >= (unsigned)(high - low))
        return;
    out[i] += 1;
}

__global__ void narrow(int *out, int high)
{
    const signed char i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= high || i < 0)
        return;
    out[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

/* ---- Several elements per thread ------------------------------------------------------------- */

__global__ void stride_plain(int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] += 3 * i + 1;
}

__global__ void stride_named(int *out, int n)
{
    const unsigned index = threadIdx.x + blockIdx.x * blockDim.x;
    const unsigned stride = gridDim.x * blockDim.x, last = n - 1;
    for (unsigned i = index; n > 0 ? last >= i : false; i += stride)
        out[i] += 3 * i + 1;
}

__global__ void stride_ends(int *out, int n)
{
    const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    const size_t stride = gridDim.x * blockDim.x, count = n;
    for (size_t i = first; count > i; i += stride) {
        if (i % 5 == 4) {
            out[i] += 3 * i + 1;
            continue;
        }
        int left = i;
        for (int k = 0; k < 2; k++)
            left += i;
        out[i] += left + 1;
    }
}

/* Each round of a thread reads the value that the previous round wrote. */
__global__ void stride_chain(int *out, int n)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = i < stride ? 3 * i + 1 : out[i - stride] + 3 * stride;
}

/* The rounds depend on each other or on their thread. */
__global__ void stride_breaks(int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (out[i] != 0)
            break;
        out[i] = 3 * i + 1;
    }
}

__global__ void stride_counts(int *out, int n)
{
    int round = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int first = i - round * (int)(blockDim.x * gridDim.x);
        round++;
        out[i] += 3 * first + 1 + 3 * (round - 1) * (int)(blockDim.x * gridDim.x);
    }
}

__device__ int count_up(int &rounds)
{
    return rounds++;
}

__global__ void stride_hands_on(int *out, int n)
{
    int round = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const int stride = blockDim.x * gridDim.x;
        out[i] += 3 * (i - round * stride) + 1 + 3 * stride * count_up(round);
    }
}

__global__ void stride_first(int *out, int n)
{
    const int index = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    for (int i = index; i < n; i += stride)
        out[i] += 3 * (i / stride * stride + index) + 1;
}

__global__ void stride_skips(int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] += 3 * i + 1;
        i += 0;
    }
}

struct totals {
    int rounds;
    __device__ int next() { return rounds++; }
};

__global__ void stride_class(int *out, int n, totals t)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] += t.next();
}

__global__ void stride_far(int *out, unsigned from, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (i >= from)
            out[i - from] += 1;
    }
}

/* ---- Other indices --------------------------------------------------------------------------- */

__global__ void twice_block(int *out)
{
    out[2 * blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void twice_thread(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x * 2] += 1;
}

__global__ void backwards(int *out, int last)
{
    out[last - blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void other_width(int *out)
{
    out[blockIdx.x * blockDim.y + threadIdx.x] += 1;
}

__global__ void rounded(float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        16777216.0f + blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void first_threads(int *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.x] += blockDim.x;
}

/* ---- Indices in three dimensions ------------------------------------------------------------- */

struct place {
    unsigned block[3], thread[3];
};

/* The number of a row: all threads that have these y and z indices of thread and block. */
__device__ size_t row_of(unsigned thread_y, unsigned thread_z, unsigned block_y, unsigned block_z,
                         dim3 blocks, dim3 grid)
{
    return ((block_z * grid.y + block_y) * blocks.z + thread_z) * blocks.y + thread_y;
}

__global__ void line_of_rows(unsigned *out, unsigned width)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t row = row_of(threadIdx.y, threadIdx.z, blockIdx.y, blockIdx.z, blockDim, gridDim);
    if (x < 1 || x >= width || threadIdx.y == 2)
        return;
    out[row * width + x] += row * 100 + x;
}

__global__ void transposes(unsigned *out, unsigned width, unsigned height)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    out[x * height + y] = y * 1000 + x;
}

__global__ void places(place *out)
{
    const size_t row = row_of(threadIdx.y, threadIdx.z, blockIdx.y, blockIdx.z, blockDim, gridDim);
    place *p = &out[(row * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    *p = {{blockIdx.x, blockIdx.y, blockIdx.z}, {threadIdx.x, threadIdx.y, threadIdx.z}};
}

/* ---- Data shared by threads of a block, or dependent on their order -------------------------- */

__global__ void own_slot(int *out, int n)
{
    __shared__ int slots[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    slots[threadIdx.x] = i;
    slots[threadIdx.x] *= 3;
    out[i] += slots[threadIdx.x] + 1;
}

extern __shared__ int scratch[];

__device__ int by_scratch(int i)
{
    int *mine = &scratch[i % 1024];
    *mine = i;
    *mine += 2 * i;
    return *mine;
}

__global__ void shared_scratch(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += by_scratch(i) + 1;
}

__global__ void counted(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&out[i], 3 * i + 1);
}

__device__ int seen(volatile int *p)
{
    return *p;
}

__global__ void watched(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = seen(&out[i]) + 3 * i + 1;
}

__global__ void with_lambda(int *out, int n)
{
    auto place = [=] { return int(blockIdx.x * blockDim.x + threadIdx.x); };
    if (place() < n)
        out[place()] += 3 * place() + 1;
}

template <class F> __global__ void apply(int n, F f)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    f(i);
}

struct triple {
    int *out;
    __device__ void operator()(int i) { out[i] += 3 * i + 1; }
};

#endif
