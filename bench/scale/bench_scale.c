/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_scale: measures 10 to 10,000 resources of each transport. Per resource: the time to create
 * it, to map it in one call with the others, and to free it, and its device memory. For all: the
 * time of a frame in a ring of all resources.
 */
#include <string.h>

#include "bench/scale/scale.h"
#include "tools/options.h"

const char bench_program[] = "bench_scale";

static struct options {
    struct scale scale;
    unsigned most;
    const char *only;
    struct scale_table table;
} o = {.most = SCALE_MOST, .scale.seconds = 3};

static const struct option_row rows[] = {
    BENCH_OPTION_DEVICE(&o.scale.on.ordinal),
    {"most", 0, "N", "maximum number of resources at once", .count = {&o.most, 10, SCALE_MOST}},
    {"seconds", 0, "S", "time limit of each step of a row", .real = {&o.scale.seconds, 0, 600}},
    {"only", 0, "KIND", "interop, copy, vulkan, shared or packed", .text = &o.only},
    BENCH_OPTION_JSON,
    BENCH_OPTION_SVG,
    {0},
};

static bool is_wanted(unsigned kind)
{
    return !o.only || strcmp(o.only, scale_kinds[kind]) == 0;
}

/*
 * Whether the resources fit into half of the device memory. Shared resources take at least 2 MiB
 * each.
 */
static bool fits(const struct scale *scale, unsigned kind, size_t size, unsigned number)
{
    const size_t least = strcmp(scale_kinds[kind], "shared") == 0 ? (size_t)2 << 20 : 0;
    size_t left = 0, total = 0;
    bench_cuda_ok(scale->cuda->MemGetInfo(&left, &total), "cuMemGetInfo");
    return (size > least ? size : least) * number < left / 2;
}

static bool measure_size(unsigned size)
{
    scale_print_head(size);
    for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
        for (unsigned i = 0; i < SCALE_NUMBERS && is_wanted(kind); i++) {
            struct scale_cell *cell = &o.table.cells[kind][size][i];
            if (scale_numbers[i] > o.most ||
                !fits(&o.scale, kind, scale_sizes[size], scale_numbers[i]))
                break;
            if (!scale_measure(&o.scale, kind, scale_sizes[size], scale_numbers[i], cell))
                return false;
            scale_print(scale_kinds[kind], cell);
            if (cell->count < cell->wanted)
                break;
        }
    return true;
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void)
{
    return scale_open(&o.scale);
}

static bool measure(void)
{
    bool good = true;
    for (unsigned size = 0; good && size < SCALE_SIZES; size++)
        good = measure_size(size);
    return good;
}

static void write_json(struct json *json)
{
    scale_write_json(json, &o.table);
}

static bool draw(const char *path, const struct bench_machine *machine)
{
    return scale_write_svg(path, machine, &o.table);
}

static void close(void)
{
    scale_close(&o.scale);
}

const struct bench_setup bench_setup = {
    .about = "Measures 10 to 10,000 resources of 1 KiB, 64 KiB and 1 MiB: create, map "
             "and release in one call, free, device memory, and a ring with as many "
             "slots.",
    .options = rows,
    .steps = {open, bench_add_opengl, NULL, measure, write_json, draw, NULL, close}};
