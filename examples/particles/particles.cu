/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of particles: three moving sources emit particles, which a turbulent flow carries
 * away. The flow is divergence-free (ABC flows of three scales), so that the particles form threads
 * and never pile up.
 */
#include <grinterop/cuhost.h>

#include "particles.h"

/* A pseudorandom number from 0 to 1. */
static __device__ float random_of(unsigned i, unsigned which)
{
    unsigned h = i * 747796405u + which * 2891336453u + 1u;
    h = ((h >> ((h >> 28) + 4u)) ^ h) * 277803737u;
    h = (h >> 22) ^ h;
    return (float)(h >> 8) / 16777216.0f;
}

static __device__ float life_of(unsigned i)
{
    return 2.0f + 4.0f * random_of(i, 7u);
}

static __device__ float4 add(float4 a, float4 b, float scale)
{
    return make_float4(a.x + scale * b.x, a.y + scale * b.y, a.z + scale * b.z, a.w);
}

static __device__ float4 eddies(float4 p, float scale, float time)
{
    const float x = scale * p.x, y = scale * p.y, z = scale * p.z;
    return make_float4(sinf(z + time) + 0.8f * cosf(y - 0.7f * time),
                       0.9f * sinf(x - 0.6f * time) + cosf(z + 0.4f * time),
                       0.8f * sinf(y + 0.8f * time) + 0.9f * cosf(x + time), 0.0f);
}

/*
 * The velocity at a point: large eddies that contain smaller ones, a slow rotation around the
 * centre, and a soft wall.
 */
static __device__ float4 flow(float4 p, float time)
{
    const float r = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
    const float back = -1.5f * fmaxf(r - 1.0f, 0.0f);
    float4 v = make_float4(-0.55f * p.z + back * p.x, back * p.y, 0.55f * p.x + back * p.z, 0.0f);
    v = add(v, eddies(p, 2.1f, 0.5f * time), 0.24f);
    v = add(v, eddies(p, 5.3f, 0.9f * time + 2.0f), 0.17f);
    return add(v, eddies(p, 11.3f, 1.1f * time + 5.0f), 0.07f);
}

/*
 * A source is a ring of nozzles that tumbles along its path, so that the particles of one nozzle
 * form a long thread.
 */
static __device__ float4 birth_place(unsigned i, float time)
{
    const float nozzles = 72.0f;
    const float third = 2.0943951f * (float)(i % 3u);
    const float along = 6.2831853f * floorf(nozzles * random_of(i, 1u)) / nozzles;
    const float r = 0.30f + 0.010f * random_of(i, 2u), tilt = 0.9f * time + third;
    const float across = r * cosf(along), up = r * sinf(along) + 0.010f * random_of(i, 3u);
    return make_float4(0.66f * cosf(0.5f * time + third) + across * cosf(tilt),
                       0.35f * sinf(0.8f * time + 2.0f * third) + up,
                       0.66f * sinf(0.5f * time + third) + across * sinf(tilt), 0.0f);
}

static __device__ float4 light_of(unsigned i, float speed)
{
    const float4 colours[3] = {
        make_float4(1.00f, 0.42f, 0.08f, 0.0f),
        make_float4(0.06f, 0.55f, 0.95f, 0.0f),
        make_float4(0.80f, 0.10f, 0.62f, 0.0f),
    };
    const float white = fminf(0.28f * speed * speed, 0.45f);
    const float4 c = colours[i % 3u];
    return make_float4(c.x + white * (1.0f - c.x), c.y + white * (1.0f - c.y),
                       c.z + white * (1.0f - c.z), 0.0f);
}

/*
 * Initialises the particles before the first step: none is born yet, and their births are
 * staggered.
 */
extern "C" __global__ void scatter(float4 *particles, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        particles[i] =
            make_float4(0.0f, 0.0f, 0.0f, -random_of((unsigned)i, 5u) * life_of((unsigned)i));
}
GR_KERNEL(scatter)

/*
 * Moves all particles by one step; w is the age in seconds. Writes the points to draw, unless `out`
 * is NULL.
 */
extern "C" __global__ void advance(float4 *particles, spark *out, int n, float time, float step)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (unsigned)n)
        return;
    const float life = life_of(i);
    float4 p = particles[i];
    const bool unborn = p.w < 0.0f;
    float age = p.w + step;
    if ((unborn && age >= 0.0f) || age > life) {
        if (age > life)
            age -= life;
        p = birth_place(i, time - age);
    }
    const float4 half = add(p, flow(p, time), 0.5f * step);
    const float4 v = flow(half, time);
    p = add(p, v, step);
    p.w = age;
    particles[i] = p;
    if (!out)
        return;

    const float begin = fminf(fmaxf(age, 0.0f) / 0.4f, 1.0f), end = 1.0f - fmaxf(age, 0.0f) / life;
    const float4 light = light_of(i, sqrtf(v.x * v.x + v.y * v.y + v.z * v.z));
    const float power = age < 0.0f ? 0.0f : 0.17f * begin * end * sqrtf(end);
    spark s;
    s.place = make_float4(p.x, p.y, p.z, 1.0f);
    s.colour = make_float4(power * light.x, power * light.y, power * light.z,
                           0.6f + 0.8f * random_of(i, 9u));
    out[i] = s;
}
GR_KERNEL(advance)
