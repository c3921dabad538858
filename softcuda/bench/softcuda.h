/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations shared by the files of bench_softcuda. */
#ifndef BENCH_SOFTCUDA_H
#define BENCH_SOFTCUDA_H

#include <grinterop/egl.h>
#include <grinterop/gl.h>

#include "bench/bench.h"
#include "bench/bench_json.h"
#include "softcuda/bench/launches.h"

#define MOST_WAYS    3
#define MOST_SAMPLES 200

struct soft_bench {
    const gr_cuda_api *cuda;
    struct bench_device on;
    gr_egl *egl;
    CUmodule module;
    unsigned samples;
    double sample_us;  /* the least duration of a sample */
    bool processor;    /* measure the CPU time of all threads */
    size_t most_bytes; /* of a buffer */
    CUdeviceptr to, from;
    struct json *json; /* NULL: none */
    unsigned wrong;    /* variants whose bytes differ from the first one's */
};

/*
 * One variant of a row's work: runs it so many times and waits until it is done. False after an
 * error, which it has printed.
 */
struct soft_way {
    const char *name;
    bool (*run)(struct soft_bench *bench, void *row, unsigned times);
};

/* Microseconds per run of the work, and the first variant's time divided by this one's. */
struct soft_time {
    struct bench_spread us, speed;
};

/* sample.c: measures the variants in turn, so that disturbances affect all of them. */
bool soft_measure(struct soft_bench *bench, const struct soft_way *ways, unsigned count, void *row,
                  struct soft_time *times);

/*
 * report.c: writes to the table, and to the file if there is one. `each` is the size of the work,
 * such as a number of items; `unit` names them.
 */
void soft_report(struct soft_bench *bench, const char *group, const char *name,
                 const struct soft_way *ways, unsigned count, const struct soft_time *times,
                 double each, const char *unit);
void soft_heading(const char *text);

/* kernel_rows.c, barrier_rows.c, map_rows.c: false after an error. */
bool soft_kernel_rows(struct soft_bench *bench);
bool soft_barrier_rows(struct soft_bench *bench);
bool soft_map_rows(struct soft_bench *bench);

/* objects.c: these print their errors. soft_close() also accepts a partly opened bench. */
bool soft_open(struct soft_bench *bench);
bool soft_open_opengl(struct soft_bench *bench);
void soft_close(struct soft_bench *bench);
bool soft_launch(struct soft_bench *bench, const char *kernel, const unsigned grid[2],
                 const unsigned block[2], void **parameters);
bool soft_wait(struct soft_bench *bench);

#endif
