/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of bench_frames and bench_latency: a mesh of w by w points on a wave, which OpenGL
 * and Vulkan draw; a filter for a picture of w by w pixels drawn by OpenGL; and clocks.
 */
#include <grinterop/cuhost.h>

#ifndef __CUDACC__
#include <time.h>
#endif

/*
 * The kernel that writes the mesh. Points lie a tenth of a pixel off the border between two pixels,
 * so that rounding can't move a point to the neighbouring pixel. The waves are steep enough to
 * leave gaps between the points of the finest mesh, so that every part of the mesh is visible.
 */
extern "C" __global__ void mesh(float4 *out, int w, float phase)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= w * w)
        return;
    const float off = 0.1f / 256.0f;
    const float x = 2.0f * ((float)(i % w) + 0.5f) / (float)w - 1.0f + off;
    const float y = 2.0f * ((float)(i / w) + 0.5f) / (float)w - 1.0f + off;
    const float height = sinf(5.0f * x + 6.2831853f * phase) * cosf(9.0f * y - 3.0f * phase);
    out[i] = make_float4(x, 0.7f * y + 0.28f * height, height, phase);
}
GR_KERNEL(mesh)

/* Writes the mean of each pixel and its eight neighbours. Edges are clamped. */
extern "C" __global__ void filter(const float4 *in, float4 *out, int w)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= w * w)
        return;
    const int x = i % w, y = i / w;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const int column = x + dx < 0 ? 0 : x + dx < w ? x + dx : w - 1;
            const int row = y + dy < 0 ? 0 : y + dy < w ? y + dy : w - 1;
            const float4 pixel = in[row * w + column];
            sum.x += pixel.x;
            sum.y += pixel.y;
            sum.z += pixel.z;
            sum.w += pixel.w;
        }
    out[i] = make_float4(sum.x / 9, sum.y / 9, sum.z / 9, sum.w / 9);
}
GR_KERNEL(filter)

/* ---- The time -------------------------------------------------------------------------------- */

/*
 * The device clock in nanoseconds; CLOCK_MONOTONIC on the software driver. Words shared with
 * another thread or the host are accessed atomically.
 */
#ifdef __CUDACC__
static __device__ unsigned long long device_time()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

static __device__ unsigned long long load(const unsigned long long *from)
{
    return *(const volatile unsigned long long *)from;
}

static __device__ void store(unsigned long long *to, unsigned long long value)
{
    *(volatile unsigned long long *)to = value;
    __threadfence_system();
}
#else
static unsigned long long device_time()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static unsigned long long load(const unsigned long long *from)
{
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static void store(unsigned long long *to, unsigned long long value)
{
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
#endif

extern "C" __global__ void stamp(unsigned long long *out)
{
    *out = device_time();
}
GR_KERNEL(stamp)

/*
 * Reports the time when the host requests it. For request n the host sets words[0] to n, and the
 * kernel writes the time to words[n]. The kernel ends after the last request, or if the next
 * request does not arrive within a second.
 */
extern "C" __global__ void answer(unsigned long long *words, int questions)
{
    for (unsigned long long n = 1; n <= (unsigned long long)questions; n++) {
        const unsigned long long since = device_time();
        while (load(words) < n)
            if (device_time() - since > 1000000000ull)
                return;
        store(&words[n], device_time());
    }
}
GR_KERNEL(answer)
