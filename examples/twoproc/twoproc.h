/* SPDX-License-Identifier: Apache-2.0 */
/*
 * twoproc is two processes: one draws with OpenGL, the other computes with CUDA. A ring of vertex
 * buffers goes from the first to the second through a socket; after that the two meet only in its
 * slots.
 */
#ifndef TWOPROC_H
#define TWOPROC_H

#include <stdbool.h>
#include <sys/types.h>

struct twoproc_options {
    int width, height;
    int mesh; /* vertices along each side of the surface */
    int frames;
    bool kill; /* the process that computes, in the middle of it */
    const char *output;
};

/*
 * The process that draws, as which the program starts; `computer` is the other one. False after an
 * error.
 */
bool twoproc_draw(const struct twoproc_options *options, int socket, pid_t computer);

/* The process that computes. */
bool twoproc_compute(const struct twoproc_options *options, int socket);

#endif
