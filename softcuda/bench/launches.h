/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The same loops, by OpenMP and by kernels that grinterop-nvcc compiled. */
#ifndef BENCH_SOFTCUDA_LAUNCHES_H
#define BENCH_SOFTCUDA_LAUNCHES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum loop_kind { LOOP_SAXPY, LOOP_POLYNOMIAL, LOOP_STENCIL, LOOP_NOTHING };

/* A row of width * height numbers, or a picture. */
struct loops {
    float *to;
    const float *from;
    unsigned width, height;
    unsigned block_x, block_y; /* of the stencil; the others use rows of the same size */
};

/* loops_openmp.cc: run on all cores, and finished when they return. */
void openmp_loop(enum loop_kind kind, const struct loops *l);
/* On one core. */
void sequential_sums(unsigned *sums, const unsigned *from, unsigned rows, unsigned width);

/* launches.cu: false if the launch failed. */
bool launch_loop(enum loop_kind kind, const struct loops *l);
bool launch_wait(void);

#ifdef __cplusplus
}
#endif

#endif
