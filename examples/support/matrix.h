/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The matrices of a camera: 16 floats in column-major order, as in OpenGL. */
#ifndef MATRIX_H
#define MATRIX_H

struct matrix {
    float m[16];
};

struct matrix matrix_multiply(struct matrix a, struct matrix b);

/* `angle` is the vertical angle of view in radians. */
struct matrix matrix_perspective(float angle, float aspect, float nearest, float farthest);

/* A camera at `eye` that looks at `target`, with y upwards. */
struct matrix matrix_look_at(const float eye[3], const float target[3]);

#endif
