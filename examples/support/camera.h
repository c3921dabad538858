/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The matrix of a camera, and mouse input that moves the camera around its target. */
#ifndef CAMERA_H
#define CAMERA_H

/* 16 floats in column-major order, as in OpenGL. */
struct matrix {
    float m[16];
};

/* A camera at `eye` that looks at `target`. `angle` is the vertical angle of view in radians. */
struct matrix camera_matrix(float angle, float aspect, float farthest, const float eye[3],
                            const float target[3]);

/* Zeros leave the camera unchanged. */
struct orbit {
    float turn, tilt; /* the angles of the eye, in degrees: to the right, and up */
    float nearer;     /* the distance, in steps of the mouse wheel */
};

/* Moves the eye around the target, but never over the top. */
void orbit_eye(const struct orbit *orbit, const float target[3], float eye[3]);

#endif
