/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernels of heightmap: from picture to heights, from heights to a lit terrain. */
#include "heightmap.h"
#include "examples/support/grid.cuh"
#include "examples/support/vertex.h"

/* The weight of a pixel at a distance: a cubic spline that reaches zero at 2, without ripples. */
static __device__ float weight(float distance)
{
    const float t = fabsf(distance);
    const float rest = fmaxf(2.0f - t, 0.0f);
    return t < 1.0f ? 2.0f / 3.0f - t * t * (1.0f - 0.5f * t) : rest * rest * rest * (1.0f / 6.0f);
}

/*
 * One thread per sample. It computes the mean colour of the picture around the sample (x, y, z) and
 * the luminance, which becomes the height (w). The mean covers two pixels or two samples each way,
 * whichever is wider.
 */
extern "C" __global__ void sample_picture(const ushort4 *pixels, int width, int height,
                                          float4 *samples, terrain t)
{
    int column, row;
    if (!find_point(t.columns, t.rows, &column, &row))
        return;

    const float step_x = (float)(width - 1) / (float)(t.columns - 1);
    const float step_y = (float)(height - 1) / (float)(t.rows - 1);
    const float unit_x = fmaxf(step_x, 1.0f), unit_y = fmaxf(step_y, 1.0f);
    const float x = step_x * (float)column, y = step_y * (float)row;
    const int x0 = max((int)(x - 2.0f * unit_x), 0), x1 = min((int)(x + 2.0f * unit_x), width - 1);
    const int y0 = max((int)(y - 2.0f * unit_y), 0), y1 = min((int)(y + 2.0f * unit_y), height - 1);

    float red = 0.0f, green = 0.0f, blue = 0.0f, sum = 0.0f;
    for (int j = y0; j <= y1; j++) {
        const float weight_y = weight(((float)j - y) / unit_y);
        for (int i = x0; i <= x1; i++) {
            const ushort4 p = pixels[(size_t)j * (size_t)width + (size_t)i];
            const float w = weight_y * weight(((float)i - x) / unit_x);
            /* Transparent pixels count as black. */
            const float opaque = w * (float)p.w * (1.0f / 65535.0f);
            red += opaque * (float)p.x;
            green += opaque * (float)p.y;
            blue += opaque * (float)p.z;
            sum += w;
        }
    }
    const float scale = 1.0f / (65535.0f * sum);
    const float luminance = (0.2126f * red + 0.7152f * green + 0.0722f * blue) * scale;
    const float level = t.range > 0.0f ? (luminance - t.darkest) / t.range : 0.0f;
    samples[row * t.columns + column] =
        make_float4(red * scale, green * scale, blue * scale, fminf(fmaxf(level, 0.0f), 1.0f));
}

static __device__ float height_at(const float4 *samples, terrain t, int column, int row)
{
    column = min(max(column, 0), t.columns - 1);
    row = min(max(row, 0), t.rows - 1);
    return t.height * samples[row * t.columns + column].w;
}

/* The height at a point between samples. Outside the terrain the height is far below. */
static __device__ float height_between(const float4 *samples, terrain t, float x, float z)
{
    const float column = (x / t.half_x + 1.0f) * 0.5f * (float)(t.columns - 1);
    const float row = (z / t.half_z + 1.0f) * 0.5f * (float)(t.rows - 1);
    if (column < 0.0f || row < 0.0f || column > (float)(t.columns - 1) || row > (float)(t.rows - 1))
        return -1.0f;
    const int c = (int)column, r = (int)row;
    const float part_c = column - (float)c, part_r = row - (float)r;
    const float far_side =
        height_at(samples, t, c, r) * (1.0f - part_c) + height_at(samples, t, c + 1, r) * part_c;
    const float near_side = height_at(samples, t, c, r + 1) * (1.0f - part_c) +
                            height_at(samples, t, c + 1, r + 1) * part_c;
    return far_side * (1.0f - part_r) + near_side * part_r;
}

/* The fraction of the sun that is visible from a point. Ray-marches the terrain towards the sun. */
static __device__ float sunlight(const float4 *samples, terrain t, float4 place)
{
    float seen = 1.0f;
    for (float way = 0.012f; way < 1.6f && seen > 0.0f; way += 0.004f + 0.03f * way) {
        const float y = place.y + way * t.light[1];
        if (y > t.height)
            break;
        const float ground =
            height_between(samples, t, place.x + way * t.light[0], place.z + way * t.light[2]);
        seen = fminf(seen, 0.5f + 14.0f * (y - ground) / way);
    }
    return fmaxf(seen, 0.0f);
}

/* How open a point is to the sky: the mean cosine of the horizon angle in eight directions. */
static __device__ float openness(const float4 *samples, terrain t, float4 place)
{
    const float directions[8][2] = {{1.0f, 0.0f},  {0.7f, 0.7f},   {0.0f, 1.0f},  {-0.7f, 0.7f},
                                    {-1.0f, 0.0f}, {-0.7f, -0.7f}, {0.0f, -1.0f}, {0.7f, -0.7f}};
    float sum = 0.0f;
    for (int i = 0; i < 8; i++) {
        float steepest = 0.0f;
        for (float way = 0.01f; way < 0.2f; way *= 1.8f) {
            const float ground = height_between(samples, t, place.x + way * directions[i][0],
                                                place.z + way * directions[i][1]);
            steepest = fmaxf(steepest, (ground - place.y) / way);
        }
        sum += 1.0f / sqrtf(1.0f + steepest * steepest);
    }
    return sum * 0.125f;
}

static __device__ float4 blend(float4 a, float4 b, float t)
{
    t = fminf(fmaxf(t, 0.0f), 1.0f);
    return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z),
                       a.w + t * (b.w - a.w));
}

/* The colours by height: sea, beach, grass, forest, rock and snow. Steep ground is bare rock. */
static __device__ float4 colour_by_height(float level, float up)
{
    const float4 rock = make_float4(0.160f, 0.130f, 0.110f, 0.05f);
    float4 c = make_float4(0.004f, 0.045f, 0.120f, 0.9f);
    c = blend(c, make_float4(0.015f, 0.170f, 0.230f, 0.8f), level * 120.0f);
    c = blend(c, make_float4(0.520f, 0.420f, 0.240f, 0.05f), (level - 0.008f) * 120.0f);
    c = blend(c, make_float4(0.105f, 0.180f, 0.035f, 0.05f), (level - 0.035f) * 25.0f);
    c = blend(c, make_float4(0.035f, 0.095f, 0.028f, 0.05f), (level - 0.12f) * 6.0f);
    c = blend(c, rock, (level - 0.45f) * 6.0f);
    if (level > 0.03f)
        c = blend(rock, c, (up - 0.55f) * 5.0f);
    return blend(c, make_float4(0.800f, 0.830f, 0.870f, 0.3f),
                 fminf((level - 0.68f) * 9.0f, (up - 0.45f) * 5.0f));
}

/* Converts the colour in the file to linear light. */
static __device__ float4 own_colour(float4 sample)
{
    return make_float4(powf(sample.x, 2.2f), powf(sample.y, 2.2f), powf(sample.z, 2.2f), 0.08f);
}

/*
 * One thread per vertex. Beyond the edge of the terrain, the skirt goes down to the base of the
 * block.
 */
extern "C" __global__ void make_terrain(const float4 *samples, vertex *out, terrain t)
{
    int column, row;
    if (!find_point(t.columns + 2 * SKIRT, t.rows + 2 * SKIRT, &column, &row))
        return;
    const int c = min(max(column - SKIRT, 0), t.columns - 1);
    const int r = min(max(row - SKIRT, 0), t.rows - 1);
    const int beyond_x = column - SKIRT - c, beyond_z = row - SKIRT - r;
    const int ring = max(abs(beyond_x), abs(beyond_z));

    const float step_x = 2.0f * t.half_x / (float)(t.columns - 1);
    const float step_z = 2.0f * t.half_z / (float)(t.rows - 1);
    vertex v;
    v.position = make_float4((float)c * step_x - t.half_x, height_at(samples, t, c, r),
                             (float)r * step_z - t.half_z, 1.0f);
    if (ring == 0) {
        const float slope_x =
            (height_at(samples, t, c + 1, r) - height_at(samples, t, c - 1, r)) / (2.0f * step_x);
        const float slope_z =
            (height_at(samples, t, c, r + 1) - height_at(samples, t, c, r - 1)) / (2.0f * step_z);
        const float up = 1.0f / sqrtf(1.0f + slope_x * slope_x + slope_z * slope_z);
        const float open = openness(samples, t, v.position);
        const float4 sample = samples[r * t.columns + c];
        v.normal = make_float4(-slope_x, 1.0f, -slope_z, sunlight(samples, t, v.position));
        v.colour = t.coloured ? own_colour(sample) : colour_by_height(sample.w, up);
        v.colour = make_float4(v.colour.x * open, v.colour.y * open, v.colour.z * open, v.colour.w);
    } else {
        v.normal = make_float4((float)beyond_x, 0.0f, (float)beyond_z, 1.0f);
        v.colour = make_float4(0.075f, 0.060f, 0.050f, 0.05f);
        if (ring == SKIRT)
            v.position.y = t.base;
    }
    out[row * (t.columns + 2 * SKIRT) + column] = v;
}

GR_KERNEL(sample_picture)
GR_KERNEL(make_terrain)
