/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A camera that orbits its target. */
#include "orbit.h"

#include <math.h>

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
