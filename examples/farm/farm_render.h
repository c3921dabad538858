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

enum { FARM_MOST_IN_FLIGHT = 64 }; /* at most SESSION_SLOTS */

struct farm_options {
    int first, frames;
    int width, height;
    int mesh, work; /* the vertices per side, and the number of waves */
    int in_flight, writers, chunk;
    const char *out;
    bool no_files;
    /* Only for tests: */
    int slow;   /* the rank that sleeps after each frame; -1: none; `ranks` or more: every rank */
    int broken; /* a frame whose kernel writes to an invalid address; 0: none */
};

/* The device in use. */
struct farm_device {
    int number;     /* the CUDA device number */
    bool software;  /* whether CUDA runs on the software driver */
    char name[100]; /* the name of the GPU */
};

/*
 * The rank on this node selects the GPU. NULL after an error, which has been printed. The caller
 * owns the writers.
 */
struct farm_render *farm_render_open(const struct farm_options *options, int local_rank,
                                     struct farm_writers *writers, struct farm_device *device);

/*
 * Enqueues one frame and passes completed pictures to the writers. Blocks if the maximum number of
 * frames is in flight. False after an error, which has been printed.
 */
bool farm_render_frame(struct farm_render *render, int frame);

/* Waits for all frames and their pictures. False after an error, which has been printed. */
bool farm_render_finish(struct farm_render *render);

/* Accepts NULL. No writer may still read the pictures. */
void farm_render_close(struct farm_render *render);

#endif
