/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_map: what a map and release cost, by the driver's own calls and by the library, measured
 * side by side in one run. Says how the numbers were made, since OpenGL's and CUDA's queues are
 * deep enough to hide the GPU from a short loop.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <epoxy/gl.h>

#include "bench/map/map.h"
#include "tools/options.h"

const char bench_program[] = "bench_map";

struct options {
    int ordinal;
    unsigned bytes;
    bool changeable;
    struct bench_effort effort;
    const char *json, *python, *script;
};

/* ---- Options --------------------------------------------------------------------------------- */

static const struct bench_effort USUAL_EFFORT = {.blocks = 601,
                                                 .room_seconds = 4,
                                                 .full_blocks = 11,
                                                 .frames = 100,
                                                 .fill_frames = 1500,
                                                 .fill_seconds = 0.5};
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

static struct options read_options(int argc, char *argv[])
{
    struct options o = {.bytes = 65536, .effort = USUAL_EFFORT};
    struct bench_effort *e = &o.effort;
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device to use, as CUDA counts",
         .whole = {&o.ordinal, 0, 1000}},
        {"blocks", 0, "N", "drained blocks of each subject in a row, at most",
         .count = {&e->blocks, 2, 10000}},
        {"room-seconds", 0, "S", "after which a row of drained blocks ends early",
         .real = {&e->room_seconds, 0, 3600}},
        {"full-blocks", 0, "N", "blocks of each subject in a row with the queues full",
         .count = {&e->full_blocks, 2, 10000}},
        {"frames", 0, "N", "frames in such a block, at most; fewer where they take long",
         .count = {&e->frames, 2, 100000}},
        {"bytes", 0, "N", "size of each buffer", .count = {&o.bytes, 4, 1 << 30}},
        {"mutable", 0, NULL, "buffers by glBufferData, not by glBufferStorage, which is immutable",
         .flag = &o.changeable},
        {"quick", 0, NULL, "61 drained blocks, 3 full ones of up to 20 frames",
         .own = {be_quick, e}},
        {"json", 0, "FILE", "also write the numbers as JSON", .text = &o.json},
        {"with-python", 0, "PYTHON",
         "then run bench_map.py with that interpreter (cuda.core, cuda.bindings)",
         .text = &o.python},
        {"script", 0, "FILE",
         "bench_map.py, where it is neither beside this program nor in ../share",
         .text = &o.script},
        {0},
    };
    options_read(argc, argv, bench_program, rows,
                 "Measures map, pointer and release of registered OpenGL buffers, by raw driver "
                 "calls and by grinterop, in turn: CPU time with room in the queues, sustained "
                 "time with the queues full.",
                 BENCH_NOTES);
    e->progress = isatty(STDERR_FILENO) != 0;
    return o;
}

/* ---- The run --------------------------------------------------------------------------------- */

static void gather_facts(const struct bench *bench, struct bench_facts *facts)
{
    bench_describe_machine(bench->cuda, bench->on.device, &facts->machine);
    snprintf(facts->opengl, sizeof(facts->opengl), "%s, %s", (const char *)glGetString(GL_RENDERER),
             (const char *)glGetString(GL_VERSION));
}

static void print_facts(const struct bench_facts *facts, const struct options *o)
{
    printf("bench_map: raw CUDA driver calls and grinterop %s, side by side\n",
           gr_library_version());
    if (facts->machine.software)
        printf("SOFTWARE CUDA DRIVER: these numbers say nothing about a GPU or about grinterop on "
               "one.\n");
    printf("  driver   %s\n  device   %s\n  OpenGL   %s\n  date     %s\n", facts->machine.driver,
           facts->machine.device, facts->opengl, facts->machine.date);
    printf(
        "  buffers  %u bytes each, %s, registered for write_discard; both map the same objects\n",
        o->bytes,
        o->changeable ? "mutable storage (glBufferData)" : "immutable storage (glBufferStorage)");
    printf(
        "  blocks   of each subject, in turn (A B B A): drained, up to %u or %g s a row; with the "
        "queues full, %u\n",
        o->effort.blocks, o->effort.room_seconds, o->effort.full_blocks);
    fflush(stdout);
}

static bool measure_all(struct bench *bench, const struct bench_effort *effort,
                        struct bench_table *table)
{
    *table = (struct bench_table){.subjects = {"raw", "grinterop"}};
    for (size_t i = 0; i < bench_kind_count; i++, table->count++)
        if (!bench_measure(bench, &bench_kinds[i], effort, &table->rows[i]))
            return false;
    return true;
}

static bool run_native(const struct options *o, const struct bench *wanted,
                       struct bench_facts *facts, struct bench_table *table)
{
    struct bench bench = *wanted;
    bool good = bench_open(&bench);
    if (good) {
        gather_facts(&bench, facts);
        print_facts(facts, o);
        good = measure_all(&bench, &o->effort, table);
    }
    bench_close(&bench);
    return good;
}

int main(int argc, char *argv[])
{
    struct options o = read_options(argc, argv);
    const struct bench wanted = {
        .on.ordinal = o.ordinal, .bytes = o.bytes, .changeable = o.changeable};
    struct bench_facts facts = {0};
    struct bench_table tables[2];
    size_t count = 1;
    char script[PATH_MAX];
    if (o.python && !bench_find_script(o.script, script, sizeof(script)))
        return 2;
    if (!run_native(&o, &wanted, &facts, &tables[0]))
        return EXIT_FAILURE;
    bench_print(&tables[0], true);
    bool good = true;
    if (o.python) {
        printf("\n");
        good = bench_run_python(o.python, script, &wanted, &o.effort, &tables[1]);
        if (good) {
            count = 2;
            bench_print(&tables[1], false);
            bench_print_beside(&tables[0], &tables[1]);
        }
    }
    if (o.json)
        good = bench_write_json(o.json, &facts, &o.effort, &wanted, tables, count) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
