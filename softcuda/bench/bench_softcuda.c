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
    bool kernels, barriers, maps;
    const char *json;
    const struct bench_machine *machine;
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

static const struct option_row rows[] = {
    {"kernels", 0, NULL, "only kernels beside OpenMP", .flag = &o.kernels},
    {"barriers", 0, NULL, "only barriers", .flag = &o.barriers},
    {"maps", 0, NULL, "only maps beside memcpy()", .flag = &o.maps},
    {"samples", 0, "N", "samples of each variant, taken in turn",
     .count = {&o.bench.samples, 1, MOST_SAMPLES}},
    {"sample-us", 0, "N", "the least microseconds of a sample",
     .count = {&o.sample_us, 1, 1000000}},
    {"cpu-time", 0, NULL, "measure CPU time instead of elapsed time", .flag = &o.bench.processor},
    {"mebibytes", 0, "N", "size of the largest buffers", .count = {&o.mebibytes, 1, 1024}},
    {"quick", 0, NULL, "3 samples of 100 us, buffers of 1 MiB", .own = {set_quick, NULL}},
    {"json", 0, "FILE", "also write the numbers as JSON", .text = &o.json},
    {0},
};

static bool open_all(void)
{
    o.bench.most_bytes = (size_t)o.mebibytes << 20;
    o.bench.sample_us = o.sample_us;
    if (!o.kernels && !o.barriers && !o.maps)
        o.kernels = o.barriers = o.maps = true;
    return soft_open(&o.bench);
}

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

static void keep_machine(struct bench_machine *machine)
{
    o.machine = machine;
}

static void print_facts(void)
{
    printf("  %d cores; %u samples of at least %u us%s, in turn; median [quartiles]\n", cores(),
           o.bench.samples, o.sample_us, o.bench.processor ? " of CPU time" : "");
}

static bool run(void)
{
    struct soft_bench *bench = &o.bench;
    return (!o.kernels || soft_kernel_rows(bench)) && (!o.barriers || soft_barrier_rows(bench)) &&
           (!o.maps || soft_map_rows(bench));
}

/* Writes each row to the file as soon as the row is measured, because no list keeps the rows. */
static bool measure(void)
{
    struct json json;
    if (!o.json)
        return run();
    if (!json_create(&json, o.json, o.machine))
        return false;
    o.bench.json = &json;
    json_members(&json, "cores %d cpu_time %d", cores(), (int)o.bench.processor);
    json_list(&json, "rows");
    const bool good = run();
    json_end_list(&json);
    return json_finish(&json) && good;
}

static bool check(void)
{
    return o.bench.wrong == 0;
}

static void close_all(void)
{
    soft_close(&o.bench);
}

const struct bench_setup bench_setup = {
    .about = "Measures the software CUDA driver beside OpenMP loops and memcpy(). Other programs "
             "on the machine affect both sides differently: see the quartiles.",
    .options = rows,
    .steps = {.open = open_all,
              .add_facts = keep_machine,
              .print_facts = print_facts,
              .measure = measure,
              .check = check,
              .close = close_all},
};
