/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * twoproc consists of two processes: one draws with OpenGL, the other computes with CUDA. The first
 * sends a ring of vertex buffers to the second through a socket; afterwards they communicate only
 * through its slots.
 */
#ifndef TWOPROC_H
#define TWOPROC_H

#include <stdbool.h>
#include <sys/types.h>

struct twoproc_options {
    int width, height;
    int mesh; /* vertices along each side of the surface */
    int frames;
    bool kill; /* kill the computing process halfway */
    const char *output;
};

/* The drawing process, which the user starts; `computer` is the other one. False after an error. */
bool twoproc_draw(const struct twoproc_options *options, int socket, pid_t computer);

/* The computing process. */
bool twoproc_compute(const struct twoproc_options *options, int socket);

#endif
