/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Kernels that inspect host threads and stacks, use barriers, or make invalid accesses. They are
 * only for tests of the software CUDA driver.
 */
#include <grinterop/cuhost.h>

#ifndef __CUDACC__
#include <pthread.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
#endif

/*
 * Each block records its host thread, then waits for the other blocks. All blocks arrive only if as
 * many host threads run blocks at the same time. A block gives up after five seconds.
 */
extern "C" __global__ void meet(unsigned *arrived, unsigned long long *threads)
{
#ifdef __CUDACC__
    (void)arrived;
    (void)threads;
#else
    threads[blockIdx.x] = (unsigned long long)pthread_self();
    atomicAdd(arrived, 1u);
    for (int i = 0; i < 5000 && __atomic_load_n(arrived, __ATOMIC_ACQUIRE) < gridDim.x; i++)
        usleep(1000);
#endif
}
GR_KERNEL(meet)

/* Waits until the host sets the word. Gives up after ten seconds. */
extern "C" __global__ void wait_until(const unsigned *set)
{
#ifdef __CUDACC__
    (void)set;
#else
    for (int i = 0; i < 10000 && !__atomic_load_n(set, __ATOMIC_ACQUIRE); i++)
        usleep(1000);
#endif
}
GR_KERNEL(wait_until)

/* Products and sums that must each be rounded separately. */
extern "C" __global__ void round_each(float *out, float a, float b, float c)
{
    out[0] = __fmul_rn(a, b) + c;
    out[1] = c + __fmul_rn(a, b);
    out[2] = __fadd_rn(a * b, c);
    out[3] = __fsub_rn(a * b, -c);
    out[4] = __fmaf_rn(a, b, c);
}
GR_KERNEL(round_each)

/* ---- Variables and unusual kernels ----------------------------------------------------------- */

extern "C" {
__device__ unsigned counters[4] = {1, 2, 3, 4};
}

struct scale {
    unsigned char factor;
    double rest;
};

extern "C" __global__ void add_counters(unsigned *out, scale by)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 4; i++)
        sum += counters[i];
    *out = by.factor * sum;
}
GR_KERNEL(add_counters)

struct much {
    unsigned numbers[500];
};

extern "C" __global__ void add_numbers(unsigned *out, much in)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 500; i++)
        sum += in.numbers[i];
    *out = sum;
}
GR_KERNEL(add_numbers)

extern "C" __global__ void without_parameters()
{
    counters[3]++;
}
GR_KERNEL(without_parameters)

extern "C" __global__ void without_registration(unsigned *out)
{
    *out = 1;
}

#ifndef __CUDACC__
/* A record as compiled with an older grinterop/cuhost.h. */
extern "C" {
extern __attribute__((visibility("default"))) const gr_cuhost_kernel gr_cuhost_kernel_of_before;
const gr_cuhost_kernel gr_cuhost_kernel_of_before = {
    1, sizeof(gr_cuhost_kernel), 0, 0, "of_before", nullptr, nullptr, 0, 0, nullptr, nullptr};
}
#endif

/* ---- Textures -------------------------------------------------------------------------------- */

extern "C" __global__ void fetch_texels(unsigned long long texture, unsigned char *out, int count)
{
    for (int i = 0; i < count; i++)
        out[i] = tex1Dfetch<unsigned char>(texture, i);
}
GR_KERNEL(fetch_texels)

#define EACH_TEXEL(name, T, value)                                                                 \
    extern "C" __global__ void name(unsigned long long texture, T *out, int width, int height,     \
                                    float of)                                                      \
    {                                                                                              \
        for (int y = 0; y < height; y++)                                                           \
            for (int x = 0; x < width; x++) {                                                      \
                const float at_x = (float)x + 0.5f, at_y = (float)y + 0.5f;                        \
                out[y * width + x] = value;                                                        \
            }                                                                                      \
        (void)of;                                                                                  \
    }                                                                                              \
    GR_KERNEL(name)

EACH_TEXEL(sample_texels, unsigned char, tex2D<unsigned char>(texture, at_x, at_y))
EACH_TEXEL(sample_words, unsigned, tex2D<unsigned>(texture, at_x, at_y))
EACH_TEXEL(sample_layer, unsigned char, tex2DLayered<unsigned char>(texture, at_x, at_y, (int)of))
EACH_TEXEL(sample_level, unsigned char,
           tex2DLod<unsigned char>(texture, at_x / (float)width, at_y / (float)height, of))

/* ---- Accesses -------------------------------------------------------------------------------- */

extern "C" __global__ void write_at(unsigned char *base, long long offset)
{
    base[offset] = 0x5a;
}
GR_KERNEL(write_at)

extern "C" __global__ void write_to_address_in(unsigned char *const *address)
{
    **address = 0x5a;
}
GR_KERNEL(write_to_address_in)

/* Accesses the memory that grinterop-nvcc uses for `extern __shared__` arrays. */
extern "C" __global__ void write_shared_at(long long offset)
{
#ifdef __CUDACC__
    (void)offset;
#else
    static_cast<unsigned char *>(gr_cuhost::here.launch->shared)[offset] = 0x5a;
#endif
}
GR_KERNEL(write_shared_at)

/* On x86-64, writes a float4 with an instruction that requires alignment; elsewhere, one byte. */
extern "C" __global__ void write_vector_at(unsigned char *base, long long offset)
{
#if defined(__SSE__) && !defined(__CUDACC__)
    _mm_store_ps(reinterpret_cast<float *>(base + offset), _mm_setzero_ps());
#else
    base[offset] = 0;
#endif
}
GR_KERNEL(write_vector_at)

struct place {
    unsigned offset;
    unsigned char *base;
};

extern "C" __global__ void write_at_place(place to)
{
    to.base[to.offset] = 0x5a;
}
GR_KERNEL(write_at_place)

/* ---- Stacks ---------------------------------------------------------------------------------- */

/*
 * Accesses only the far end of the frame. The compiler does not know the index, so it keeps the
 * whole frame.
 */
template <unsigned Size> static __device__ unsigned char use_frame(unsigned char value)
{
    volatile unsigned char frame[Size];
    frame[value % 2] = value;
    return frame[value % 2];
}

#define FRAME_KERNEL(size)                                                                         \
    extern "C" __global__ void frame_##size(unsigned char *out)                                    \
    {                                                                                              \
        __syncthreads();                                                                           \
        out[threadIdx.x] = use_frame<size>((unsigned char)threadIdx.x);                            \
    }                                                                                              \
    GR_KERNEL_SYNC(frame_##size)

FRAME_KERNEL(16000)
FRAME_KERNEL(66000)
FRAME_KERNEL(300000)

/* The depth is a parameter, so that a compiler cannot replace the recursion by a loop. */
static __device__ unsigned descend(unsigned depth)
{
    volatile unsigned frame[1000];
    frame[depth % 2] = depth;
    const unsigned below = depth > 0 ? descend(depth - 1) : 0;
    return below + frame[depth % 2];
}

extern "C" __global__ void recurse(unsigned *out, unsigned depth)
{
    *out = descend(depth);
}
GR_KERNEL(recurse)

/* ---- Barriers -------------------------------------------------------------------------------- */

static __device__ unsigned block_threads()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

static __device__ unsigned thread_in_block()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

static __device__ unsigned block_in_grid()
{
    return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

extern "C" __global__ void block_sum(const unsigned *in, unsigned *sums)
{
    __shared__ unsigned part[1024];
    const unsigned me = thread_in_block();
    part[me] = in[block_in_grid() * block_threads() + me];
    __syncthreads();
    for (unsigned n = block_threads(); n > 1; n = (n + 1) / 2) {
        const unsigned half = (n + 1) / 2;
        if (me + half < n)
            part[me] += part[me + half];
        __syncthreads();
    }
    if (me == 0)
        sums[block_in_grid()] = part[0];
}
GR_KERNEL_SYNC(block_sum)

extern __shared__ unsigned ring[];

/* In each round, every thread passes its value to the next thread. */
extern "C" __global__ void rotate(unsigned *values, unsigned rounds)
{
    const unsigned me = thread_in_block(), n = block_threads();
    unsigned *mine = values + block_in_grid() * n + me;
    unsigned value = *mine;
    for (unsigned i = 0; i < rounds; i++) {
        ring[me] = value;
        __syncthreads();
        value = ring[(me + n - 1) % n];
        __syncthreads();
    }
    *mine = value;
}
GR_KERNEL_SYNC(rotate)
GR_SHARED(ring)

/*
 * Threads with the number `stay` or a higher one exit before the first barrier. After each round,
 * one more thread exits.
 */
extern "C" __global__ void leave(unsigned *counts, unsigned stay)
{
    const unsigned me = thread_in_block();
    if (me >= stay)
        return;
    for (unsigned round = 0; round <= me; round++)
        counts[me] = (unsigned)__syncthreads_count(1);
}
GR_KERNEL_SYNC(leave)

/*
 * Votes on three predicates: the thread number is odd; the thread number is below a bound; false.
 */
extern "C" __global__ void vote(int *results, unsigned limit)
{
    const unsigned me = thread_in_block();
    int *mine = results + 5 * me;
    mine[0] = __syncthreads_count(me % 2);
    mine[1] = __syncthreads_and(me < limit);
    mine[2] = __syncthreads_and(me < limit - 1);
    mine[3] = __syncthreads_or(me == limit - 1);
    mine[4] = __syncthreads_or(me >= limit);
}
GR_KERNEL_SYNC(vote)

/* Stores the indices of each thread after barriers, which must not change them. */
extern "C" __global__ void who(uint3 *seen)
{
    const uint3 before = threadIdx;
    __syncthreads();
    uint3 *mine = seen + 3 * (block_in_grid() * block_threads() + thread_in_block());
    mine[0] = before;
    __syncthreads();
    mine[1] = threadIdx;
    mine[2] = blockIdx;
}
GR_KERNEL_SYNC(who)

/* Stores values that the lanes of a warp exchange. At the end, odd lanes take another branch. */
extern "C" __global__ void warps(unsigned *out)
{
    const unsigned all = 0xffffffffu, me = thread_in_block(), value = me * me + 1;
    unsigned *mine = out + 8 * (block_in_grid() * block_threads() + me);
    mine[0] = __shfl_sync(all, value, 3);
    mine[1] = __shfl_up_sync(all, value, 1, 8);
    mine[2] = __shfl_down_sync(all, value, 2);
    mine[3] = __shfl_xor_sync(all, value, 5);
    mine[4] = __ballot_sync(all, me % 3 == 0);
    mine[5] = (unsigned)(__any_sync(all, me == 5) + 2 * __all_sync(all, me < 40));
    mine[6] = __match_any_sync(all, me % 4);
    if (me % 2 == 1)
        mine[7] = __shfl_xor_sync(0xaaaaaaaau, value, 2);
    __syncthreads();
    if (me % 2 == 0)
        mine[7] = __activemask();
}
GR_KERNEL_SYNC(warps)

extern "C" __global__ void barrier_undeclared(unsigned *out)
{
    __syncthreads();
    *out = 1;
}
GR_KERNEL(barrier_undeclared)
