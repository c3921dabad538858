/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_scale: what each of 10 to 10,000 resources costs, by each transport: to make, to map in one
 * call with all others, to free, the device's memory, and a frame of a ring of so many slots.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/scale/scale.h"
#include "tools/options.h"

const char bench_program[] = "bench_scale";

struct options {
    int ordinal;
    unsigned most;
    double seconds;
    const char *only, *json, *svg;
};

static struct options read_options(int argc, char *argv[])
{
    struct options o = {.most = SCALE_MOST, .seconds = 3};
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device to use, as CUDA counts",
         .whole = {&o.ordinal, 0, 1000}},
        {"most", 0, "N", "of resources at once", .count = {&o.most, 10, SCALE_MOST}},
        {"seconds", 0, "S", "after which a step of a row ends early", .real = {&o.seconds, 0, 600}},
        {"only", 0, "KIND", "interop, copy, vulkan, shared or packed", .text = &o.only},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o.json},
        {"svg", 0, "FILE", "also draw them", .text = &o.svg},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures 10 to 10,000 resources of 1 KiB, 64 KiB and 1 MiB: create, map and "
                 "release in one call, free, device memory, and a ring of so many slots.",
                 BENCH_NOTES);
    return o;
}

static bool is_wanted(const struct options *o, unsigned kind)
{
    return !o->only || strcmp(o->only, scale_kinds[kind]) == 0;
}

/* More than half of the device's memory is not taken: shared ones have 2 MiB at the least. */
static bool fits(const struct scale *scale, unsigned kind, size_t size, unsigned number)
{
    const size_t least = strcmp(scale_kinds[kind], "shared") == 0 ? (size_t)2 << 20 : 0;
    size_t left = 0, total = 0;
    bench_cuda_ok(scale->cuda->MemGetInfo(&left, &total), "cuMemGetInfo");
    return (size > least ? size : least) * number < left / 2;
}

static bool measure_size(const struct scale *scale, const struct options *o, unsigned size,
                         struct scale_table *table)
{
    scale_print_head(size);
    for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
        for (unsigned i = 0; i < SCALE_NUMBERS && is_wanted(o, kind); i++) {
            struct scale_cell *cell = &table->cells[kind][size][i];
            if (scale_numbers[i] > o->most ||
                !fits(scale, kind, scale_sizes[size], scale_numbers[i]))
                break;
            if (!scale_measure(scale, kind, scale_sizes[size], scale_numbers[i], cell))
                return false;
            scale_print(scale_kinds[kind], cell);
            if (cell->count < cell->wanted)
                break;
        }
    return true;
}

int main(int argc, char *argv[])
{
    static struct scale_table table;
    struct options o = read_options(argc, argv);
    struct scale scale = {.on.ordinal = o.ordinal, .seconds = o.seconds};
    struct bench_machine machine = {.date = ""};
    bool good = scale_open(&scale);
    if (good) {
        bench_describe_machine(scale.cuda, scale.on.device, &machine);
        printf("bench_scale: grinterop %s\n  driver   %s\n  device   %s\n  OpenGL   %s\n  date     "
               "%s\n",
               gr_library_version(), machine.driver, machine.device, scale.opengl, machine.date);
    }
    for (unsigned size = 0; good && size < SCALE_SIZES; size++)
        good = measure_size(&scale, &o, size, &table);
    if (good && o.json)
        good = scale_write_json(o.json, &machine, &scale, &table);
    if (good && o.svg)
        good = scale_write_svg(o.svg, &machine, &table);
    scale_close(&scale);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
