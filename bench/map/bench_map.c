/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_map: measures the cost of a map and release with the driver API and with the library, side
 * by side in one run. It prints how the numbers were taken, since the OpenGL and CUDA queues are
 * deep enough to hide the GPU from a short loop.
 */
#define _GNU_SOURCE
#include <limits.h>

#include "bench/bench_json.h"
#include "bench/map/map.h"
#include "tools/options.h"

const char bench_program[] = "bench_map";

struct options {
    struct bench bench;
    struct bench_run run;
    unsigned bytes;
    struct bench_effort effort;
    const char *python, *script;
    char script_path[PATH_MAX];
    bool python_failed;
    struct bench_table tables[2]; /* the second one is from Python */
    size_t count;
};

/* ---- Options --------------------------------------------------------------------------------- */

#define USUAL_EFFORT                                                                               \
    {                                                                                              \
        .blocks = 601, .room_seconds = 4, .full_blocks = 11, .frames = 100, .fill_frames = 1500,   \
        .fill_seconds = 0.5                                                                        \
    }
static const struct bench_effort QUICK_EFFORT = {.blocks = 61,
                                                 .room_seconds = 0.5,
                                                 .full_blocks = 3,
                                                 .frames = 20,
                                                 .fill_frames = 600,
                                                 .fill_seconds = 0.2};

static bool be_quick(const char *text, void *effort)
{
    (void)text;
    *(struct bench_effort *)effort = QUICK_EFFORT;
    return true;
}

static void read_options(int argc, char *argv[], struct options *o)
{
    struct bench_effort *e = &o->effort;
    const struct option_row rows[] = {
        BENCH_OPTION_DEVICE(&o->bench.on.ordinal),
        {"blocks", 0, "N", "maximum number of drained blocks of each subject in a row",
         .count = {&e->blocks, 2, 10000}},
        {"room-seconds", 0, "S", "time limit of a row of drained blocks",
         .real = {&e->room_seconds, 0, 3600}},
        {"full-blocks", 0, "N", "blocks of each subject in a row with the queues full",
         .count = {&e->full_blocks, 2, 10000}},
        {"frames", 0, "N", "maximum number of frames in such a block; fewer if they take long",
         .count = {&e->frames, 2, 100000}},
        {"bytes", 0, "N", "size of each buffer", .count = {&o->bytes, 4, 1 << 30}},
        {"mutable", 0, NULL,
         "buffers by glBufferData instead of glBufferStorage, which is immutable",
         .flag = &o->bench.changeable},
        {"quick", 0, NULL, "61 drained blocks, 3 full ones of up to 20 frames",
         .own = {be_quick, e}},
        BENCH_OPTION_JSON(&o->run.json),
        {"with-python", 0, "PYTHON",
         "then run bench_map.py with that interpreter (cuda.core, cuda.bindings)",
         .text = &o->python},
        {"script", 0, "FILE",
         "the path of bench_map.py, if it is neither beside this program nor in ../share",
         .text = &o->script},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures map, pointer and release of registered OpenGL buffers with raw driver "
                 "calls and with grinterop, alternating: CPU time with room in the queues, "
                 "sustained time with the queues full.",
                 BENCH_NOTES);
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool open(void *of)
{
    struct options *o = of;
    o->bench.bytes = o->bytes;
    return bench_open(&o->bench);
}

static void add_facts(void *of, struct bench_machine *machine)
{
    (void)of;
    bench_add_opengl(machine);
}

static void print_facts(void *of)
{
    const struct options *o = of;
    printf(
        "  buffers  %u bytes each, %s, registered for write_discard; both map the same objects\n",
        o->bytes,
        o->bench.changeable ? "mutable storage (glBufferData)"
                            : "immutable storage (glBufferStorage)");
    printf("  blocks   of each subject, alternating (A B B A): drained, up to %u or %g s a row; "
           "with the queues full, %u\n",
           o->effort.blocks, o->effort.room_seconds, o->effort.full_blocks);
}

static bool measure_native(struct options *o)
{
    struct bench_table *table = &o->tables[o->count++];
    *table = (struct bench_table){.subjects = {"raw", "grinterop"}};
    for (size_t i = 0; i < bench_kind_count; i++, table->count++)
        if (!bench_measure(&o->bench, &bench_kinds[i], &o->effort, &table->rows[i]))
            return false;
    bench_print(table, true);
    return true;
}

/* Closes everything first, so that Python has the device to itself. */
static bool measure_python(struct options *o)
{
    const struct bench wanted = o->bench;
    struct bench_table *table = &o->tables[o->count];
    bench_close(&o->bench);
    o->bench.changeable = wanted.changeable;
    printf("\n");
    if (!bench_run_python(o->python, o->script_path, &wanted, &o->effort, table))
        return false;
    o->count++;
    bench_print(table, false);
    bench_print_beside(&o->tables[0], table);
    return true;
}

static bool measure(void *of)
{
    struct options *o = of;
    if (!measure_native(o))
        return false;
    o->python_failed = o->python && !measure_python(o);
    return true;
}

static void write_json(void *of, struct json *json)
{
    const struct options *o = of;
    json_whole(json, "buffer_bytes", o->bytes);
    json_truth(json, "immutable_storage", !o->bench.changeable);
    bench_write_json(json, &o->effort, o->tables, o->count);
}

static bool check(void *of)
{
    return !((struct options *)of)->python_failed;
}

static void close(void *of)
{
    bench_close(&((struct options *)of)->bench);
}

int main(int argc, char *argv[])
{
    static const struct bench_steps steps = {.title = "raw CUDA driver calls, side by side with ",
                                             .open = open,
                                             .add_facts = add_facts,
                                             .print_facts = print_facts,
                                             .measure = measure,
                                             .write_json = write_json,
                                             .check = check,
                                             .close = close};
    static struct options o = {.bytes = 65536, .effort = USUAL_EFFORT};
    read_options(argc, argv, &o);
    o.run.on = &o.bench.on;
    if (o.python && !bench_find_script(o.script, o.script_path, sizeof(o.script_path)))
        return 2;
    return bench_main(&o.run, &steps, &o);
}
