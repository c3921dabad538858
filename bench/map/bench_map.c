/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_map: measures the cost of a map and release with the driver API and with the library, side
 * by side in one run. It prints how the numbers were measured, since the OpenGL and CUDA queues are
 * so deep that a short loop would not wait for the GPU.
 */
#include <stdlib.h>

#include "bench/bench_json.h"
#include "bench/map/map.h"
#include "tools/options.h"

const char bench_program[] = "bench_map";

static struct options {
    struct bench bench;
    struct bench_effort effort;
    const char *python, *script;
    bool python_failed;
    struct bench_table tables[2]; /* the second table is from Python */
    size_t count;
} o = {.bench.bytes = 65536,
       .effort = {.blocks = 601,
                  .room_seconds = 4,
                  .full_blocks = 11,
                  .frames = 100,
                  .fill_frames = 1500,
                  .fill_seconds = 0.5}};

/* ---- Options --------------------------------------------------------------------------------- */

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    o.effort = (struct bench_effort){.blocks = 61,
                                     .room_seconds = 0.5,
                                     .full_blocks = 3,
                                     .frames = 20,
                                     .fill_frames = 600,
                                     .fill_seconds = 0.2};
    return true;
}

static const struct option_row rows[] = {
    BENCH_OPTION_DEVICE(&o.bench.on.ordinal),
    {"room-seconds", 0, "S", "time limit of a row of drained blocks",
     .real = {&o.effort.room_seconds, 0, 3600}},
    {"full-blocks", 0, "N", "blocks of each subject in a row with the queues full",
     .count = {&o.effort.full_blocks, 2, 10000}},
    {"quick", 0, NULL, "61 drained blocks, 3 full ones of up to 20 frames",
     .own = {be_quick, NULL}},
    BENCH_OPTION_JSON,
    {"with-python", 0, "PYTHON",
     "then run bench_map.py with that interpreter (cuda.core, cuda.bindings)", .text = &o.python},
    {0},
};

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void)
{
    if (o.python && !(o.script = bench_find_script()))
        exit(2);
    return bench_open(&o.bench);
}

static void close(void)
{
    bench_close(&o.bench);
}

static void print_facts(void)
{
    printf("  buffers  %zu bytes each, immutable storage (glBufferStorage), registered for "
           "write_discard; both map the same objects\n",
           o.bench.bytes);
    printf("  blocks   of each subject, alternating (A B B A): drained, up to %u or %g s a row; "
           "with the queues full, %u\n",
           o.effort.blocks, o.effort.room_seconds, o.effort.full_blocks);
}

static bool measure_native(void)
{
    struct bench_table *table = &o.tables[o.count++];
    *table = (struct bench_table){.subjects = {"raw", "grinterop"}};
    for (size_t i = 0; i < bench_kind_count; i++, table->count++)
        if (!bench_measure(&o.bench, &bench_kinds[i], &o.effort, &table->rows[i]))
            return false;
    bench_print(table, true);
    return true;
}

/* Measures with Python. Closes everything first, so that Python has the device to itself. */
static bool measure_python(void)
{
    struct bench_table *table = &o.tables[o.count];
    bench_close(&o.bench);
    printf("\n");
    if (!bench_run_python(o.python, o.script, &o.bench, &o.effort, table))
        return false;
    o.count++;
    bench_print(table, false);
    bench_print_beside(&o.tables[0], table);
    return true;
}

static bool measure(void)
{
    if (!measure_native())
        return false;
    o.python_failed = o.python && !measure_python();
    return true;
}

static void write_json(struct json *json)
{
    json_members(json, "buffer_bytes %zu", o.bench.bytes);
    bench_write_json(json, &o.effort, o.tables, o.count);
}

static bool check(void)
{
    return !o.python_failed;
}

const struct bench_setup bench_setup = {
    .title = "raw CUDA driver calls, side by side with",
    .about = "Measures map, pointer and release of registered OpenGL buffers with raw "
             "driver calls and with grinterop, alternating: CPU time with room in the "
             "queues, sustained time with the queues full.",
    .options = rows,
    .steps = {open, bench_add_opengl, print_facts, measure, write_json, NULL, check, close}};
