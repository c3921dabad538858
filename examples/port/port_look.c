/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The camera of port. */
#include "port_look.h"

#include <math.h>

struct port_view port_look(int width, int height, const struct orbit *orbit)
{
    const float target[3] = {0.02f, -0.10f, 0.10f};
    float eye[3] = {-0.72f, 1.95f, 2.75f};
    const float light[3] = {0.62f, 0.58f, -0.53f};
    /* Halves the depth range, since matrix_perspective() gives a depth from -1 to 1. */
    const struct matrix halve = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0.5f, 1}};
    const float angle = 39.0f * 0.01745329f;
    const float aspect = (float)width / (float)height;

    orbit_eye(orbit, target, eye);
    struct port_view view = {
        .camera =
            matrix_multiply(matrix_multiply(halve, matrix_perspective(angle, aspect, 0.1f, 20.0f)),
                            matrix_look_at(eye, target)),
        .scale = {2.0f / (float)width, 2.4f / (float)height, 1.0f, 1.0f}};
    const float length = sqrtf(light[0] * light[0] + light[1] * light[1] + light[2] * light[2]);
    for (int i = 0; i < 3; i++) {
        view.eye[i] = eye[i];
        view.light[i] = light[i] / length;
    }
    return view;
}
