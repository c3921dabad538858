/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank's renderer: for each frame CUDA computes vertices, OpenGL draws them without a window on
 * the same GPU, and the picture goes to the writers. Several frames are in flight.
 */
#ifndef FARM_RENDER_H
#define FARM_RENDER_H

#include <stdbool.h>

struct farm_writers;
struct farm_render;

enum { FARM_MOST_IN_FLIGHT = 64 };

struct farm_render_options {
    int rank; /* of this node, which decides on the GPU */
    int width, height;
    int mesh, work; /* vertices along a side, waves a vertex */
    int in_flight;
    int broken; /* a frame whose kernel writes nowhere; 0: none. For the test */
};

/* What it runs on. */
struct farm_device {
    int number;     /* as CUDA counts here */
    bool software;  /* the software CUDA driver */
    char name[100]; /* the GPU's */
};

/* NULL after an error, which has been printed. The writers are the caller's. */
struct farm_render *farm_render_open(const struct farm_render_options *options,
                                     struct farm_writers *writers, struct farm_device *device);

/*
 * Puts one frame on its way, and hands on those that have come about. Waits where as many as
 * allowed are in flight. False after an error, which has been printed.
 */
bool farm_render_frame(struct farm_render *render, int frame);

/* Waits for all frames and their pictures. False after an error, which has been printed. */
bool farm_render_finish(struct farm_render *render);

/* NULL does nothing. No writer may be at work any more with what it was given. */
void farm_render_close(struct farm_render *render);

#endif
