/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's side of particles: where they are, and the kernels that move them.
 */
#ifndef PARTICLES_CUDA_H
#define PARTICLES_CUDA_H

#include "examples/support/session.h"

struct particles_cuda {
    const struct session *session;
    CUmodule module;
    CUfunction scatter, advance;
    CUdeviceptr particles; /* CUDA's own memory: only what is drawn of them is shared */
    int count;
    long step; /* so many have been made */
};

/* False after an error, which has been printed. Either way particles_cuda_close() cleans up. */
bool particles_cuda_open(struct particles_cuda *cuda, const struct session *session, int count);
void particles_cuda_close(struct particles_cuda *cuda);

/* As at the start, with everybody on the way who is there on average. */
bool particles_cuda_start(struct particles_cuda *cuda);

/* Starts the kernel of one step, which writes what is drawn: `count` struct spark. */
bool particles_cuda_advance(struct particles_cuda *cuda, CUdeviceptr sparks);

/* The time of the last step, in seconds. */
float particles_cuda_time(const struct particles_cuda *cuda);

#endif
