/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A rasteriser for Gaussian splats: it projects each Gaussian, lists those of each tile of the
 * picture, sorts each list by depth, and blends it from front to back. A frame depends only on the
 * scene and the angle, not on the order of threads.
 */
#include <assert.h>
#include <time.h>

enum { TILE = 16, MOST_PER_TILE = 2048 };

/* A disc, whose deviation is `radius` along the disc and less along its normal. */
struct gaussian {
    float3 position, normal;
    float radius;
    float4 colour; /* and the opacity */
};

/* A Gaussian in the picture; `conic` is the inverse of its covariance: xx, xy, yy. */
struct splat {
    float2 centre;
    float3 conic;
    float4 colour;
};

struct rasteriser {
    int width, height, columns, rows, gaussians;
    gaussian *scene;
    splat *splats;
    unsigned *counts;         /* the number of splats of each tile */
    unsigned long long *keys; /* MOST_PER_TILE for each tile: the depth, and the splat */
};

/* In nanoseconds, as GL_TIMESTAMP on the same device. */
static __device__ unsigned long long device_time()
{
#ifdef __GRINTEROP_NVCC__
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
#else
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#endif
}

static __device__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static __device__ float covariance(const gaussian &g, float3 a, float3 b)
{
    return g.radius * g.radius * (dot(a, b) - 0.95f * dot(a, g.normal) * dot(b, g.normal));
}

/* The camera is 4 units away from the centre, at `angle` around the y axis. */
static __global__ void project(rasteriser r, float angle, unsigned long long *started)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        *started = device_time();
    if (i >= r.gaussians)
        return;
    const gaussian g = r.scene[i];
    const float s = sinf(angle), c = cosf(angle);
    const float3 right = make_float3(c, 0, -s), ahead = make_float3(-s, 0, -c);
    const float z = 4 + dot(ahead, g.position), scale = 1.3f * r.height / z;
    const float x = dot(right, g.position) / z, y = g.position.y / z;
    const float2 at = make_float2(0.5f * r.width + scale * z * x, 0.5f * r.height - scale * z * y);
    /* The change of `at` in pixels for a step in the scene. */
    const float3 dx = make_float3(scale * (c + s * x), 0, scale * (c * x - s));
    const float3 dy = make_float3(-scale * s * y, -scale, -scale * c * y);
    const float xx = covariance(g, dx, dx) + 0.3f, yy = covariance(g, dy, dy) + 0.3f;
    const float xy = covariance(g, dx, dy), scaled = 1 / (xx * yy - xy * xy);
    r.splats[i] = {at, make_float3(yy * scaled, -xy * scaled, xx * scaled), g.colour};
    const int left = max(0, (int)(at.x - 3 * sqrtf(xx)) / TILE);
    const int right_end = min(r.columns - 1, (int)(at.x + 3 * sqrtf(xx)) / TILE);
    const int bottom = max(0, (int)(at.y - 3 * sqrtf(yy)) / TILE);
    const int top = min(r.rows - 1, (int)(at.y + 3 * sqrtf(yy)) / TILE);
    for (int row = bottom; row <= top; row++)
        for (int column = left; column <= right_end; column++) {
            const size_t tile = row * r.columns + column;
            const unsigned n = atomicAdd(&r.counts[tile], 1u);
            assert(n < MOST_PER_TILE);
            r.keys[tile * MOST_PER_TILE + n] = (unsigned long long)__float_as_uint(z) << 32 | i;
        }
}

/* A block of TILE * TILE threads sorts the keys of a tile; `n` is a power of two. */
static __device__ void sort(unsigned long long *keys, unsigned n, unsigned thread)
{
    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned step = size / 2; step > 0; step /= 2) {
            for (unsigned i = thread; i < n; i += TILE * TILE) {
                const unsigned long long a = keys[i], b = keys[i ^ step];
                if ((i & step) == 0 && (a > b) == !(i & size)) {
                    keys[i] = b;
                    keys[i ^ step] = a;
                }
            }
            __syncthreads();
        }
}

/* Writes the tile as three planes: red, green and blue. */
static __global__ void blend(rasteriser r, float *out)
{
    __shared__ unsigned long long keys[MOST_PER_TILE];
    const unsigned tile = blockIdx.y * r.columns + blockIdx.x, count = r.counts[tile];
    const unsigned thread = threadIdx.y * TILE + threadIdx.x;
    unsigned n = 1;
    while (n < count)
        n *= 2;
    for (unsigned i = thread; i < n; i += TILE * TILE)
        keys[i] = i < count ? r.keys[(size_t)tile * MOST_PER_TILE + i] : ~0ull;
    __syncthreads();
    sort(keys, n, thread);
    const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= r.width || y >= r.height)
        return;
    float left = 1, red = 0, green = 0, blue = 0;
    for (unsigned i = 0; i < count && left > 0.001f; i++) {
        const splat s = r.splats[(unsigned)keys[i]];
        const float dx = x + 0.5f - s.centre.x, dy = y + 0.5f - s.centre.y;
        const float power = s.conic.x * dx * dx + 2 * s.conic.y * dx * dy + s.conic.z * dy * dy;
        const float alpha = min(0.99f, s.colour.w * expf(-0.5f * power));
        if (alpha < 1.0f / 255)
            continue;
        red += left * alpha * s.colour.x;
        green += left * alpha * s.colour.y;
        blue += left * alpha * s.colour.z;
        left *= 1 - alpha;
    }
    const size_t at = (size_t)y * r.width + x, plane = (size_t)r.width * r.height;
    out[at] = red;
    out[at + plane] = green;
    out[at + 2 * plane] = blue;
}
