/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The CUDA part of particles: their positions, and the kernels that move them. */
#ifndef PARTICLES_CUDA_H
#define PARTICLES_CUDA_H

#include "examples/support/session.h"

struct particles_cuda {
    const struct session *session;
    CUfunction scatter, advance;
    CUdeviceptr particles; /* memory that only CUDA uses; only the points to draw are shared */
    int count;
    long step; /* the number of steps so far */
};

/* False after an error, which has been printed. particles_cuda_close() cleans up in any case. */
bool particles_cuda_open(struct particles_cuda *cuda, struct session *session, int count);
void particles_cuda_close(struct particles_cuda *cuda);

/* Resets the particles, then moves them until the usual number of them is in flight. */
bool particles_cuda_start(struct particles_cuda *cuda);

/* Starts the kernel of one step, which writes `count` points to draw (struct spark). */
bool particles_cuda_advance(struct particles_cuda *cuda, CUdeviceptr sparks);

/* The time of the last step, in seconds. */
float particles_cuda_time(const struct particles_cuda *cuda);

#endif
