/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The renderer of one rank: for each frame CUDA computes vertices, headless OpenGL draws them on
 * the same GPU, and the picture goes to the writers. Several frames are in flight.
 */
#ifndef FARM_RENDER_H
#define FARM_RENDER_H

#include <stdbool.h>

struct farm_writers;
struct farm_render;

enum { FARM_MOST_IN_FLIGHT = 64 };

struct farm_render_options {
    int rank; /* on this node; selects the GPU */
    int width, height;
    int mesh, work; /* vertices per side, number of waves */
    int in_flight;
    int broken; /* a frame whose kernel writes to an invalid address; 0: none. For tests */
};

/* The device in use. */
struct farm_device {
    int number;     /* CUDA device number */
    bool software;  /* the software CUDA driver */
    char name[100]; /* of the GPU */
};

/* NULL after an error, which has been printed. The caller owns the writers. */
struct farm_render *farm_render_open(const struct farm_render_options *options,
                                     struct farm_writers *writers, struct farm_device *device);

/*
 * Enqueues one frame and passes on completed pictures. Blocks if the maximum is in flight. False
 * after an error, which has been printed.
 */
bool farm_render_frame(struct farm_render *render, int frame);

/* Waits for all frames and their pictures. False after an error, which has been printed. */
bool farm_render_finish(struct farm_render *render);

/* Accepts NULL. No writer may still use its pictures. */
void farm_render_close(struct farm_render *render);

#endif
