/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * twoproc consists of two processes: one draws with OpenGL, the other computes with CUDA. The
 * drawing process sends a ring of vertex buffers to the computing process through a socket. After
 * that, the two processes communicate only through the slots of the ring.
 */
#ifndef TWOPROC_H
#define TWOPROC_H

#include <stdbool.h>
#include <sys/types.h>

struct twoproc_options {
    int width, height;
    int mesh; /* vertices along each side of the surface */
    int frames;
    bool kill; /* whether to kill the computing process halfway */
    const char *output;
};

/*
 * Runs the drawing process, which the user starts. `computer` is the computing process. False after
 * an error.
 */
bool twoproc_draw(const struct twoproc_options *options, int socket, pid_t computer);

/* Runs the computing process. False after an error. */
bool twoproc_compute(const struct twoproc_options *options, int socket);

#endif
