/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Mouse input that moves a camera around its target. Zeros leave it unchanged. */
#ifndef ORBIT_H
#define ORBIT_H

struct orbit {
    float turn, tilt; /* degrees: to the right, and up */
    float nearer;     /* steps of the mouse wheel */
};

/* Moves the eye around the target, but never over the top. */
void orbit_eye(const struct orbit *orbit, const float target[3], float eye[3]);

#endif
