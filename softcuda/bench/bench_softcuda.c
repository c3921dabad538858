/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_softcuda: the speed of the software CUDA driver, compared with the same work without the
 * driver: kernels with OpenMP loops, barriers with loops without barriers, maps with memcpy().
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>

#include "softcuda/bench/softcuda.h"
#include "tools/options.h"

const char bench_program[] = "bench_softcuda";

struct options {
    struct soft_bench bench;
    unsigned sample_us, mebibytes;
    bool kernels, barriers, maps;
    const char *json;
};

static bool set_quick(const char *text, void *into)
{
    struct options *o = into;
    (void)text;
    o->bench.samples = 3;
    o->sample_us = 100;
    o->mebibytes = 1;
    return true;
}

static void read_options(int argc, char *argv[], struct options *o)
{
    const struct option_row rows[] = {
        {"kernels", 0, NULL, "only kernels beside OpenMP", .flag = &o->kernels},
        {"barriers", 0, NULL, "only barriers", .flag = &o->barriers},
        {"maps", 0, NULL, "only maps beside memcpy()", .flag = &o->maps},
        {"samples", 0, "N", "samples of each variant, taken in turn",
         .count = {&o->bench.samples, 1, MOST_SAMPLES}},
        {"sample-us", 0, "N", "the least microseconds of a sample",
         .count = {&o->sample_us, 1, 1000000}},
        {"cpu-time", 0, NULL, "measure CPU time instead of elapsed time",
         .flag = &o->bench.processor},
        {"mebibytes", 0, "N", "size of the largest buffers", .count = {&o->mebibytes, 1, 1024}},
        {"quick", 0, NULL, "3 samples of 100 us, buffers of 1 MiB", .own = {set_quick, o}},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o->json},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures the software CUDA driver beside OpenMP loops and memcpy().",
                 "Other programs on the machine affect both sides differently: see the quartiles.");
    o->bench.most_bytes = (size_t)o->mebibytes << 20;
    o->bench.sample_us = o->sample_us;
    if (!o->kernels && !o->barriers && !o->maps)
        o->kernels = o->barriers = o->maps = true;
}

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

static void print_head(const struct options *o, const struct bench_machine *machine)
{
    printf("bench_softcuda: grinterop %s\n  driver   %s\n  date     %s\n", gr_library_version(),
           machine->driver, machine->date);
    printf("  %d cores; %u samples of at least %u us%s, in turn; median [quartiles]\n", cores(),
           o->bench.samples, o->sample_us, o->bench.processor ? " of CPU time" : "");
}

static bool run(struct options *o)
{
    struct soft_bench *bench = &o->bench;
    return (!o->kernels || soft_kernel_rows(bench)) && (!o->barriers || soft_barrier_rows(bench)) &&
           (!o->maps || soft_map_rows(bench));
}

static bool run_with_file(struct options *o, const struct bench_machine *machine)
{
    struct json json;
    if (!o->json)
        return run(o);
    if (!json_create(&json, o->json, machine))
        return false;
    o->bench.json = &json;
    json_whole(&json, "cores", cores());
    json_whole(&json, "cpu_time", o->bench.processor);
    json_list(&json, "rows");
    const bool good = run(o);
    json_end_list(&json);
    return json_finish(&json) && good;
}

int main(int argc, char *argv[])
{
    struct options o = {.bench = {.samples = 15}, .sample_us = 20000, .mebibytes = 64};
    struct bench_machine machine = {.software = false};
    read_options(argc, argv, &o);
    bool good = soft_open(&o.bench);
    if (good) {
        bench_describe_machine(o.bench.on.device, &machine);
        print_head(&o, &machine);
        good = run_with_file(&o, &machine);
    }
    soft_close(&o.bench);
    return good && o.bench.wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
