/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The kernels of gallery: one for each image, all with the same parameters. They write through
 * surface objects. `index` selects one of `count` layers, faces or levels of the image; for a
 * volume, `count` is the number of slices. All patterns are smooth, so the last bit of a sine does
 * not show.
 */
#include "examples/support/grid.cuh"

static __device__ float3 rgb(float r, float g, float b)
{
    return make_float3(r, g, b);
}

static __device__ float3 mix(float3 a, float3 b, float t)
{
    return rgb(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z));
}

static __device__ float3 scale(float3 a, float s)
{
    return rgb(s * a.x, s * a.y, s * a.z);
}

static __device__ float step_between(float from, float to, float x)
{
    const float t = __saturatef((x - from) / (to - from));
    return t * t * (3.0f - 2.0f * t);
}

/* Interpolates between four colours for t from 0 to 1. */
static __device__ float3 through(float3 a, float3 b, float3 c, float3 d, float t)
{
    const float at = 3.0f * __saturatef(t);
    if (at < 1.0f)
        return mix(a, b, at);
    return at < 2.0f ? mix(b, c, at - 1.0f) : mix(c, d, at - 2.0f);
}

static __device__ unsigned char to_byte(float value)
{
    return (unsigned char)(255.0f * __saturatef(value) + 0.5f);
}

static __device__ uchar4 opaque(float3 c)
{
    return make_uchar4(to_byte(c.x), to_byte(c.y), to_byte(c.z), 255);
}

/* Writes a pixel. Surfaces address x in bytes. */
static __device__ void write_pixel(cudaSurfaceObject_t out, int x, int y, float3 colour)
{
    surf2Dwrite(opaque(colour), out, 4 * x, y);
}

/* Silk: a plane folded by several waves. */
extern "C" __global__ void paint_plane(cudaSurfaceObject_t out, int width, int height, int, int)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    float x = 3.0f * ((float)column + 0.5f) / (float)height;
    float y = 3.0f * ((float)row + 0.5f) / (float)height;
    for (int i = 1; i <= 4; i++) {
        const float k = (float)i;
        x += 0.62f / k * sinf(1.5f * k * y + 0.9f * k);
        y += 0.62f / k * cosf(1.5f * k * x + 0.4f);
    }
    const float t = 0.5f + 0.5f * sinf(2.1f * x + 1.3f * y + 0.6f);
    const float fold = 0.5f + 0.5f * sinf(2.3f * (x - y) + 1.0f);
    const float3 c = through(rgb(0.10f, 0.05f, 0.23f), rgb(0.44f, 0.11f, 0.42f),
                             rgb(0.93f, 0.38f, 0.38f), rgb(1.00f, 0.84f, 0.62f), t);
    write_pixel(out, column, row, scale(c, 0.72f + 0.33f * fold));
}

/* The height of the ridge of hill i, from 0 at the bottom to 1 at the top. */
static __device__ float ridge(int i, float x)
{
    const float k = (float)i;
    return 0.50f - 0.092f * k + 0.055f * sinf(5.1f * x + 2.4f * k) +
           0.026f * sinf((9.0f + 2.0f * k) * x + 4.0f * k) +
           0.008f * sinf((31.0f + 5.0f * k) * x + k);
}

/* Hills before the evening sun, each row darker than the one behind it. */
extern "C" __global__ void paint_rectangle(cudaSurfaceObject_t out, int width, int height, int, int)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const float pixel = 1.0f / (float)height;
    const float x = ((float)column + 0.5f) * pixel, y = 1.0f - ((float)row + 0.5f) * pixel;
    const float sun_x = x - 0.39f, sun_y = y - 0.66f;
    const float from_sun = sqrtf(sun_x * sun_x + sun_y * sun_y);

    float3 c = through(rgb(0.99f, 0.72f, 0.42f), rgb(0.95f, 0.47f, 0.36f), rgb(0.55f, 0.28f, 0.47f),
                       rgb(0.16f, 0.15f, 0.36f), 1.7f * (y - 0.42f));
    c = mix(c, rgb(1.0f, 0.80f, 0.52f), 0.55f * expf(-7.0f * from_sun));
    c = mix(c, rgb(1.0f, 0.95f, 0.80f), step_between(0.105f + pixel, 0.105f - pixel, from_sun));
    for (int i = 0; i < 6; i++) {
        const float t = (float)i / 5.0f, below = ridge(i, x) - y;
        const float3 hill = through(rgb(0.86f, 0.47f, 0.42f), rgb(0.58f, 0.29f, 0.43f),
                                    rgb(0.27f, 0.16f, 0.35f), rgb(0.07f, 0.06f, 0.17f), t);
        const float3 hazy =
            mix(hill, rgb(0.98f, 0.66f, 0.48f), 0.42f * (1.0f - t) * __saturatef(5.0f * below));
        c = mix(c, hazy, step_between(-pixel, pixel, below));
    }
    write_pixel(out, column, row, c);
}

/* The point on the cube at (p, q) of a face, both from -1 to 1, as OpenGL orients the faces. */
static __device__ float3 on_face(int face, float p, float q)
{
    switch (face) {
    case 0:
        return rgb(1.0f, -q, -p);
    case 1:
        return rgb(-1.0f, -q, p);
    case 2:
        return rgb(p, 1.0f, q);
    case 3:
        return rgb(p, -1.0f, -q);
    case 4:
        return rgb(p, -q, 1.0f);
    default:
        return rgb(-p, -q, -1.0f);
    }
}

/* A height for each direction from the centre of the cube, so that the faces join seamlessly. */
static __device__ float world(float3 d)
{
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < 3; i++) {
        const float k = 1.9f + 1.8f * (float)i;
        const float3 e = rgb(d.x + 0.35f * sinf(k * d.y + 1.3f), d.y + 0.35f * sinf(k * d.z + 2.9f),
                             d.z + 0.35f * sinf(k * d.x + 0.7f));
        sum +=
            weight * sinf(k * e.x + 0.6f) * sinf(k * e.y + 1.9f + (float)i) * sinf(k * e.z + 3.1f);
        weight *= 0.55f;
    }
    return 0.46f + 0.80f * sum;
}

/* A map of a small world, with contour lines. */
extern "C" __global__ void paint_face(cudaSurfaceObject_t out, int width, int height, int index,
                                      int)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const float3 place = on_face(index, (2.0f * (float)column + 1.0f) / (float)width - 1.0f,
                                 (2.0f * (float)row + 1.0f) / (float)height - 1.0f);
    const float3 d =
        scale(place, 1.0f / sqrtf(place.x * place.x + place.y * place.y + place.z * place.z));
    const float level = 13.0f * world(d), band = floorf(level), part = level - band;
    const float t = (band + step_between(0.86f, 1.0f, part)) / 13.0f;
    const float3 sea = through(rgb(0.03f, 0.16f, 0.27f), rgb(0.04f, 0.28f, 0.38f),
                               rgb(0.10f, 0.45f, 0.49f), rgb(0.36f, 0.67f, 0.62f), 2.1f * t);
    const float3 land =
        through(rgb(0.93f, 0.87f, 0.64f), rgb(0.62f, 0.74f, 0.42f), rgb(0.84f, 0.60f, 0.34f),
                rgb(0.98f, 0.95f, 0.90f), (t - 0.48f) * 2.6f);
    const float3 c = mix(sea, land, step_between(0.465f, 0.480f, t));
    write_pixel(out, column, row, scale(c, 0.88f + 0.12f * step_between(0.0f, 0.5f, part)));
}

/* A rosette: each mip level has one more petal and its own colours. */
extern "C" __global__ void paint_level(cudaSurfaceObject_t out, int width, int height, int index,
                                       int)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const float3 papers[3] = {rgb(0.10f, 0.14f, 0.31f), rgb(0.29f, 0.08f, 0.25f),
                              rgb(0.05f, 0.24f, 0.25f)};
    const float3 inks[3] = {rgb(0.98f, 0.75f, 0.28f), rgb(0.97f, 0.45f, 0.52f),
                            rgb(0.45f, 0.86f, 0.70f)};
    const float x = (2.0f * (float)column + 1.0f) / (float)width - 1.0f;
    const float y = (2.0f * (float)row + 1.0f) / (float)height - 1.0f;
    const float r = sqrtf(x * x + y * y) + 1e-4f, angle = atan2f(y, x);
    const float petals = (float)(12 - index);
    float light = 0.0f;
    for (int i = 0; i < 5; i++) {
        const float size = 0.92f - 0.17f * (float)i;
        const float edge = size * (0.78f + 0.22f * cosf(petals * angle + 3.14159265f * (float)i));
        const float inside = step_between(0.0f, 0.020f + 1.5f / (float)width, edge - r);
        light = light * (1.0f - inside) +
                inside * (0.18f + 0.82f * r / edge) * (1.0f - 0.09f * (float)i);
    }
    const float3 paper = papers[index % 3], ink = inks[index % 3];
    const float3 c = mix(scale(paper, 1.25f - 0.3f * r), ink, light * light);
    const float3 white = rgb(1.0f, 0.97f, 0.90f);
    const float heart = step_between(0.085f + 1.0f / (float)width, 0.045f, r);
    const float3 petal = mix(c, white, 0.30f * light * light * light);
    write_pixel(out, column, row, mix(petal, white, heart));
}

/* Ripples from two centres, further apart on each layer. */
extern "C" __global__ void paint_layer(cudaSurfaceObject_t out, int width, int height, int index,
                                       int count)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const float3 darks[4] = {rgb(0.10f, 0.12f, 0.36f), rgb(0.02f, 0.27f, 0.36f),
                             rgb(0.42f, 0.13f, 0.25f), rgb(0.50f, 0.24f, 0.06f)};
    const float3 lights[4] = {rgb(0.56f, 0.60f, 0.98f), rgb(0.42f, 0.90f, 0.83f),
                              rgb(1.00f, 0.62f, 0.62f), rgb(1.00f, 0.88f, 0.50f)};
    const float x = ((float)column + 0.5f) / (float)width - 0.5f;
    const float y = ((float)row + 0.5f) / (float)height - 0.5f;
    const float apart = 0.10f + 0.30f * (float)index / (float)count;
    const float a = sqrtf((x - apart) * (x - apart) + (y + 0.6f * apart) * (y + 0.6f * apart));
    const float b = sqrtf((x + apart) * (x + apart) + (y - 0.6f * apart) * (y - 0.6f * apart));
    const float wave = 0.5f + 0.25f * (sinf(52.0f * a) + sinf(52.0f * b));
    const float far_off = 1.0f - 0.55f * (x * x + y * y);
    write_pixel(
        out, column, row,
        scale(mix(darks[index & 3], lights[index & 3], step_between(0.05f, 0.95f, wave)), far_off));
}

/* A glowing ball with a labyrinth inside; one thread per voxel. */
extern "C" __global__ void paint_volume(cudaSurfaceObject_t out, int width, int height, int,
                                        int count)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const int slice = (int)blockIdx.z;
    const float x = (2.0f * (float)column + 1.0f) / (float)width - 1.0f;
    const float y = (2.0f * (float)row + 1.0f) / (float)height - 1.0f;
    const float z = (2.0f * (float)slice + 1.0f) / (float)count - 1.0f;
    const float r = sqrtf(x * x + y * y + z * z);
    const float k = 6.2f;
    const float labyrinth =
        sinf(k * x) * cosf(k * y) + sinf(k * y) * cosf(k * z) + sinf(k * z) * cosf(k * x);
    const float wall = 1.0f - step_between(0.10f, 0.75f, fabsf(labyrinth));
    const float ball = step_between(0.965f, 0.915f, r);
    const float heat =
        ball * (0.16f + wall * (0.92f - 0.42f * r)) + 0.20f * expf(-9.0f * fabsf(r - 0.94f));
    surf3Dwrite(opaque(through(rgb(0.035f, 0.025f, 0.075f), rgb(0.42f, 0.07f, 0.36f),
                               rgb(0.96f, 0.44f, 0.16f), rgb(1.0f, 0.96f, 0.70f), heat)),
                out, 4 * column, row, slice);
}

/* Pseudorandom numbers from 0 to 1, the same on every machine. */
static __device__ float scatter(int x, int y, unsigned kind)
{
    unsigned h = (unsigned)x * 0x8da6b343u ^ (unsigned)y * 0xd8163841u ^ kind * 0xcb1ab31fu;
    h = (h ^ (h >> 16)) * 0x7feb352du;
    h = (h ^ (h >> 15)) * 0x846ca68bu;
    return (float)((h ^ (h >> 16)) >> 8) * (1.0f / 16777216.0f);
}

/* Stained glass: each pixel belongs to the nearest of some scattered points. */
extern "C" __global__ void paint_glass(cudaSurfaceObject_t out, int width, int height, int, int)
{
    int column, row;
    if (!find_point(width, height, &column, &row))
        return;
    const float x = ((float)column + 0.5f) * 0.03f, y = ((float)row + 0.5f) * 0.03f;
    const int cell_x = (int)floorf(x), cell_y = (int)floorf(y);
    float nearest = 9.0f, second = 9.0f, hue = 0.0f, shade = 0.0f;
    for (int j = cell_y - 2; j <= cell_y + 2; j++) {
        for (int i = cell_x - 2; i <= cell_x + 2; i++) {
            const float dx = (float)i + 0.15f + 0.7f * scatter(i, j, 1) - x;
            const float dy = (float)j + 0.15f + 0.7f * scatter(i, j, 2) - y;
            const float distance = sqrtf(dx * dx + dy * dy);
            if (distance < nearest) {
                second = nearest;
                nearest = distance;
                hue = 0.75f * ((float)j + 0.5f) * 0.115f + 0.30f * scatter(i, j, 3);
                shade = scatter(i, j, 4);
            } else if (distance < second) {
                second = distance;
            }
        }
    }
    const float3 c = through(rgb(0.11f, 0.33f, 0.62f), rgb(0.13f, 0.62f, 0.60f),
                             rgb(0.96f, 0.72f, 0.26f), rgb(0.84f, 0.23f, 0.27f), hue);
    const float glow = (0.74f + 0.40f * shade) * (1.10f - 0.35f * nearest);
    const float lead = step_between(0.035f, 0.105f, second - nearest);
    write_pixel(out, column, row, mix(rgb(0.055f, 0.06f, 0.085f), scale(c, glow), lead));
}

GR_KERNEL(paint_plane)
GR_KERNEL(paint_rectangle)
GR_KERNEL(paint_face)
GR_KERNEL(paint_level)
GR_KERNEL(paint_layer)
GR_KERNEL(paint_volume)
GR_KERNEL(paint_glass)
