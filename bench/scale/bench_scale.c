/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_scale: measures the cost of each of 10 to 10,000 resources, by transport: to create, to map
 * all in one call, to free, device memory, and a frame of a ring with that many slots.
 */
#include <string.h>

#include "bench/scale/scale.h"
#include "tools/options.h"

const char bench_program[] = "bench_scale";

struct options {
    struct scale scale;
    struct bench_run run;
    unsigned most;
    const char *only;
    struct scale_table table;
};

static void read_options(int argc, char *argv[], struct options *o)
{
    const struct option_row rows[] = {
        BENCH_OPTION_DEVICE(&o->scale.on.ordinal),
        {"most", 0, "N", "maximum number of resources at once",
         .count = {&o->most, 10, SCALE_MOST}},
        {"seconds", 0, "S", "time limit of each step of a row",
         .real = {&o->scale.seconds, 0, 600}},
        {"only", 0, "KIND", "interop, copy, vulkan, shared or packed", .text = &o->only},
        BENCH_OPTION_JSON(&o->run.json),
        BENCH_OPTION_SVG(&o->run.svg),
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures 10 to 10,000 resources of 1 KiB, 64 KiB and 1 MiB: create, map and "
                 "release in one call, free, device memory, and a ring with as many slots.",
                 BENCH_NOTES);
}

static bool is_wanted(const struct options *o, unsigned kind)
{
    return !o->only || strcmp(o->only, scale_kinds[kind]) == 0;
}

/* Limits the total to half of the device memory; shared resources take at least 2 MiB each. */
static bool fits(const struct scale *scale, unsigned kind, size_t size, unsigned number)
{
    const size_t least = strcmp(scale_kinds[kind], "shared") == 0 ? (size_t)2 << 20 : 0;
    size_t left = 0, total = 0;
    bench_cuda_ok(scale->cuda->MemGetInfo(&left, &total), "cuMemGetInfo");
    return (size > least ? size : least) * number < left / 2;
}

static bool measure_size(struct options *o, unsigned size)
{
    scale_print_head(size);
    for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
        for (unsigned i = 0; i < SCALE_NUMBERS && is_wanted(o, kind); i++) {
            struct scale_cell *cell = &o->table.cells[kind][size][i];
            if (scale_numbers[i] > o->most ||
                !fits(&o->scale, kind, scale_sizes[size], scale_numbers[i]))
                break;
            if (!scale_measure(&o->scale, kind, scale_sizes[size], scale_numbers[i], cell))
                return false;
            scale_print(scale_kinds[kind], cell);
            if (cell->count < cell->wanted)
                break;
        }
    return true;
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void *of)
{
    return scale_open(&((struct options *)of)->scale);
}

static void add_facts(void *of, struct bench_machine *machine)
{
    (void)of;
    bench_add_opengl(machine);
}

static bool measure(void *of)
{
    bool good = true;
    for (unsigned size = 0; good && size < SCALE_SIZES; size++)
        good = measure_size(of, size);
    return good;
}

static void write_json(void *of, struct json *json)
{
    scale_write_json(json, &((struct options *)of)->table);
}

static bool draw(void *of, const char *path)
{
    const struct options *o = of;
    return scale_write_svg(path, &o->run.machine, &o->table);
}

static void close(void *of)
{
    scale_close(&((struct options *)of)->scale);
}

int main(int argc, char *argv[])
{
    static const struct bench_steps steps = {.title = "",
                                             .open = open,
                                             .add_facts = add_facts,
                                             .measure = measure,
                                             .write_json = write_json,
                                             .draw = draw,
                                             .close = close};
    static struct options o = {.most = SCALE_MOST, .scale.seconds = 3};
    read_options(argc, argv, &o);
    o.run.on = &o.scale.on;
    return bench_main(&o.run, &steps, &o);
}
