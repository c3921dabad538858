/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few matrices that a camera needs. A matrix is 16 floats in columns, as OpenGL takes them.
 */
#ifndef MATRIX_H
#define MATRIX_H

struct matrix {
    float m[16];
};

struct matrix matrix_multiply(struct matrix a, struct matrix b);

/* The angle of view is vertical, in radians. */
struct matrix matrix_perspective(float angle, float aspect, float nearest, float farthest);

/* A camera at `eye` that looks at `target`, with y upwards in the picture. */
struct matrix matrix_look_at(const float eye[3], const float target[3]);

#endif
