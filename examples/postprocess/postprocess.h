/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program postprocess tells its kernels.
 */
#ifndef POSTPROCESS_H
#define POSTPROCESS_H

enum { LARGEST_RADIUS = 64 };

/* A Gaussian curve, cut off beyond the radius; its weights to both sides have the sum 1. */
struct gaussian {
    int radius;
    float weights[LARGEST_RADIUS + 1];
};

#endif
