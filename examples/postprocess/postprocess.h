/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The kernel parameters of postprocess. */
#ifndef POSTPROCESS_H
#define POSTPROCESS_H

enum { LARGEST_RADIUS = 64 };

/* A Gaussian curve, truncated at the radius. The weights on both sides sum to 1. */
struct gaussian {
    int radius;
    float weights[LARGEST_RADIUS + 1];
};

#endif
