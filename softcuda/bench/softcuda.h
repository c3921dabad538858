/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the files of bench_softcuda share. */
#ifndef BENCH_SOFTCUDA_H
#define BENCH_SOFTCUDA_H

#include <grinterop/gl.h>

#include "bench/bench.h"
#include "softcuda/bench/launches.h"

#define MOST_WAYS    3
#define MOST_SAMPLES 200

struct soft_bench {
    struct bench_device on;
    CUmodule module;
    unsigned samples;
    double sample_us;  /* the minimum duration of a sample */
    bool processor;    /* measure the CPU time of all threads instead of the elapsed time */
    size_t most_bytes; /* the size of the largest buffer */
    CUdeviceptr to, from;
    const struct bench_row *row; /* the row that is measured */
    unsigned wrong;              /* the variants of the row whose results differ from the first */
};

/*
 * One variant of the work of a row. run() does the work the given number of times and waits until
 * it is complete.
 */
struct soft_way {
    const char *name;
    void (*run)(struct soft_bench *bench, void *row, unsigned times);
};

/* The microseconds per run of the work, and how many times faster the variant is than the first. */
struct soft_time {
    struct bench_spread us, speed;
};

/*
 * sample.c: measures the variants in turns, so that a disturbance affects all of them, and adds the
 * results under the name. `each` is the size of the work, such as the number of items. Returns the
 * times of the variants, which the next call overwrites.
 */
const struct soft_time *soft_measure(struct soft_bench *bench, const char *name,
                                     const struct soft_way *ways, unsigned count, void *row,
                                     double each);

/* kernel_rows.c, barrier_rows.c and map_rows.c: measure and report the rows. */
void soft_kernel_rows(struct soft_bench *bench);
void soft_barrier_rows(struct soft_bench *bench);
void soft_map_rows(struct soft_bench *bench);

/* objects.c */
void soft_open(struct soft_bench *bench);
void soft_launch(struct soft_bench *bench, const char *kernel, const unsigned grid[2],
                 const unsigned block[2], void **parameters);
void soft_wait(struct soft_bench *bench);

#endif
