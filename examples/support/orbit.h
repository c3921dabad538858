/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a hand moves a camera about what it looks at. Zeros leave it where it is.
 */
#ifndef ORBIT_H
#define ORBIT_H

struct orbit {
    float turn, tilt; /* degrees: to the right, and up */
    float nearer;     /* turns of a mouse wheel */
};

/* Moves the eye, which looks at the target; never over the top of it. */
void orbit_eye(const struct orbit *orbit, const float target[3], float eye[3]);

#endif
