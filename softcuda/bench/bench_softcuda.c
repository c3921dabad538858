/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_softcuda compares the software CUDA driver with the same machine without the driver:
 * kernels with OpenMP loops, barriers with loops without barriers, maps with memcpy().
 */
#define _GNU_SOURCE
#include <sched.h>

#include "softcuda/bench/softcuda.h"
#include "tools/options.h"

const char bench_program[] = "bench_softcuda";

static struct {
    struct soft_bench bench;
    unsigned sample_us, mebibytes;
} o = {.bench.samples = 15, .sample_us = 20000, .mebibytes = 64};

static bool set_quick(const char *text, void *into)
{
    (void)text;
    (void)into;
    o.bench.samples = 3;
    o.sample_us = 100;
    o.mebibytes = 1;
    return true;
}

static const struct option_row options[] = {
    {"samples", 0, "N", "samples of each variant, taken in turn",
     .count = {&o.bench.samples, 1, MOST_SAMPLES}},
    {"sample-us", 0, "N", "the least microseconds of a sample",
     .count = {&o.sample_us, 1, 1000000}},
    {"cpu-time", 0, NULL, "measure CPU time instead of elapsed time", .flag = &o.bench.processor},
    {"mebibytes", 0, "N", "size of the largest buffers", .count = {&o.mebibytes, 1, 1024}},
    {"quick", 0, NULL, "3 samples of 100 us, buffers of 1 MiB", .own = {set_quick, NULL}},
    {0},
};

static void open_all(void)
{
    o.bench.most_bytes = (size_t)o.mebibytes << 20;
    o.bench.sample_us = o.sample_us;
    soft_open(&o.bench);
}

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

static void add_facts(struct bench_machine *machine)
{
    bench_add_fact(machine, "samples", "samples", "%u of at least %u us%s, in turn, on %d cores",
                   o.bench.samples, o.sample_us, o.bench.processor ? " of CPU time" : "", cores());
}

/* ---- Rows: each adds several results --------------------------------------------------------- */

struct soft_row {
    struct bench_row row;
    void (*measure)(struct soft_bench *bench);
};

static void run(const void *row)
{
    o.bench.row = row;
    ((const struct soft_row *)row)->measure(&o.bench);
}

static const struct soft_row rows[] = {
    {{"kernels", "", "Kernels, each waited for, beside OpenMP", run}, soft_kernel_rows},
    {{"barriers", "", "Barriers, and sums by a tree beside a loop", run}, soft_barrier_rows},
    {{"maps", "", "A map and a release beside memcpy() of the same size", run}, soft_map_rows},
    {.measure = NULL},
};

const struct bench_setup bench_setup = {
    .about = "Measures the software CUDA driver beside OpenMP loops and memcpy(). Other programs "
             "on the machine affect both sides differently: see the quartiles.",
    .options = options,
    .rows = {rows},
    .row_size = sizeof(*rows),
    .open = open_all,
    .add_facts = add_facts,
};
