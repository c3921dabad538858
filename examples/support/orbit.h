/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mouse input that moves a camera around its target. Zeros leave the camera unchanged. */
#ifndef ORBIT_H
#define ORBIT_H

struct orbit {
    float turn, tilt; /* the angles of the eye, in degrees: to the right, and up */
    float nearer;     /* the distance, in steps of the mouse wheel */
};

/* Moves the eye around the target, but never over the top. */
void orbit_eye(const struct orbit *orbit, const float target[3], float eye[3]);

#endif
