/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A camera, with y upwards. */
#include "camera.h"

#include <math.h>

static struct matrix multiply(struct matrix a, struct matrix b)
{
    struct matrix product = {{0}};
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++)
            for (int i = 0; i < 4; i++)
                product.m[4 * column + row] += a.m[4 * i + row] * b.m[4 * column + i];
    return product;
}

static struct matrix perspective(float angle, float aspect, float farthest)
{
    const float nearest = 0.1f;
    const float scale = 1.0f / tanf(angle / 2.0f);
    const float depth = nearest - farthest;
    struct matrix p = {{0}};
    p.m[0] = scale / aspect;
    p.m[5] = scale;
    p.m[10] = (farthest + nearest) / depth;
    p.m[11] = -1.0f;
    p.m[14] = 2.0f * farthest * nearest / depth;
    return p;
}

static void normalise(float v[3])
{
    const float length = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static struct matrix look_at(const float eye[3], const float target[3])
{
    const float up[3] = {0.0f, 1.0f, 0.0f};
    float back[3], right[3], above[3];
    for (int i = 0; i < 3; i++)
        back[i] = eye[i] - target[i];
    normalise(back);
    cross(up, back, right);
    normalise(right);
    cross(back, right, above);

    const float *axes[3] = {right, above, back};
    struct matrix view = {{0}};
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < 3; i++) {
            view.m[4 * i + row] = axes[row][i];
            view.m[12 + row] -= axes[row][i] * eye[i];
        }
    }
    view.m[15] = 1.0f;
    return view;
}

struct matrix camera_matrix(float angle, float aspect, float farthest, const float eye[3],
                            const float target[3])
{
    return multiply(perspective(angle, aspect, farthest), look_at(eye, target));
}

/* ---- Mouse input ----------------------------------------------------------------------------- */

static const float DEGREE = 0.01745329f;

/* The largest tilt. At 90 degrees, right and left would be undefined. */
static const float HIGHEST = 86.0f * 0.01745329f;

void orbit_eye(const struct orbit *orbit, const float target[3], float eye[3])
{
    const float x = eye[0] - target[0], y = eye[1] - target[1], z = eye[2] - target[2];
    const float away = sqrtf(x * x + y * y + z * z) * powf(0.9f, orbit->nearer);
    const float turn = atan2f(x, z) + DEGREE * orbit->turn;
    const float height = atan2f(y, sqrtf(x * x + z * z)) + DEGREE * orbit->tilt;
    const float tilt = fminf(fmaxf(height, -HIGHEST), HIGHEST);
    eye[0] = target[0] + away * cosf(tilt) * sinf(turn);
    eye[1] = target[1] + away * sinf(tilt);
    eye[2] = target[2] + away * cosf(tilt) * cosf(turn);
}
