/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The same loops in two forms: OpenMP loops, and kernels that grinterop-nvcc compiled. */
#ifndef BENCH_SOFTCUDA_LAUNCHES_H
#define BENCH_SOFTCUDA_LAUNCHES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum loop_kind { LOOP_SAXPY, LOOP_POLYNOMIAL, LOOP_STENCIL, LOOP_NOTHING };

/* The data of a loop: a row of width * height numbers, or a picture. */
struct loops {
    float *to;
    const float *from;
    unsigned width, height;
    /*
     * The block size of the stencil. The blocks of other kernels are rows with the same number of
     * threads.
     */
    unsigned block_x, block_y;
};

/* loops_openmp.cc: runs the loop on all cores and returns when it is finished. */
void openmp_loop(enum loop_kind kind, const struct loops *l);
/* Runs on one core. */
void sequential_sums(unsigned *sums, const unsigned *from, unsigned rows, unsigned width);

/*
 * launches.cu: launch a kernel, and wait for all launches. The functions return false on failure.
 */
bool launch_loop(enum loop_kind kind, const struct loops *l);
bool launch_wait(void);

#ifdef __cplusplus
}
#endif

#endif
