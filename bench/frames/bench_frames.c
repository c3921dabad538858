/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_frames: measures what a frame costs when CUDA writes its mesh and OpenGL or Vulkan draws
 * it, for each transport, side by side in one run. Writes a table, a JSON file and a chart.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_json.h"
#include "bench/frames/frames.h"
#include "tools/options.h"

const char bench_program[] = "bench_frames";

struct options {
    struct frames f;
    struct bench_run run;
    struct frames_effort effort;
    struct frames_table table;
    bool why;
    const char *only, *python, *script;
    char script_path[PATH_MAX], version[FRAMES_PYTHON]; /* of Python */
};

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_meshes(const char *text, void *options)
{
    struct frames_table *table = &((struct options *)options)->table;
    const char *whole = text;
    table->meshes = 0;
    for (char *end; table->meshes < FRAMES_MESHES; text = end + 1) {
        const long mesh = strtol(text, &end, 10);
        if (mesh < 2 || mesh > 4096 || (*end != ',' && *end != '\0'))
            break;
        table->mesh[table->meshes++] = (int)mesh;
        if (*end == '\0')
            return true;
    }
    fprintf(stderr, "--meshes takes up to %d numbers from 2 to 4096, not \"%s\".\n", FRAMES_MESHES,
            whole);
    return false;
}

#define USUAL_EFFORT                                                                               \
    {                                                                                              \
        .rounds = 3, .frames = 1200, .most_frames = 20000, .block_seconds = 0.25,                  \
        .most_seconds = 0.45                                                                       \
    }
static const struct frames_effort QUICK_EFFORT = {
    .rounds = 2, .frames = 24, .most_frames = 48, .block_seconds = 0.01, .most_seconds = 0.05};

static bool be_quick(const char *text, void *options)
{
    (void)text;
    struct options *o = options;
    o->effort = QUICK_EFFORT;
    return parse_meshes("16,32,64", o);
}

/* CUDA and OpenGL on one device. */
static bool parse_device(const char *text, void *options)
{
    struct frames *f = &((struct options *)options)->f;
    if (!bench_parse_device("device", text, &f->on.ordinal))
        return false;
    f->gl_ordinal = f->on.ordinal;
    return true;
}

static bool parse_gl_device(const char *text, void *options)
{
    struct frames *f = &((struct options *)options)->f;
    if (strcmp(text, "software") != 0)
        return bench_parse_device("gl-device", text, &f->gl_ordinal);
    f->gl_ordinal = FRAMES_SOFTWARE_GL;
    return true;
}

static bool is_across(const struct options *o)
{
    return o->f.gl_ordinal != FRAMES_SOFTWARE_GL && o->f.gl_ordinal != o->f.on.ordinal;
}

/* The default rows with two devices, and with OpenGL on the CPU. */
static const char ACROSS[] = "kernel,draw,bound,transfer,raw,grinterop,copy,peer,shared,ring/1,"
                             "hand/,vulkan/draw,vulkan/1,vulkan/copy/,read/,vulkan/read/";
static const char SOFTWARE[] = "kernel,draw,bound,transfer,copy,read/bound,read/copy";

static const char *usual_rows(const struct options *o)
{
    return o->f.gl_ordinal == FRAMES_SOFTWARE_GL ? SOFTWARE : is_across(o) ? ACROSS : "";
}

static void read_options(int argc, char *argv[], struct options *o)
{
    struct frames_effort *e = &o->effort;
    const struct option_row rows[] = {
        {"device", 0, "N", "the CUDA device that computes and draws (default 0)",
         .own = {parse_device, o}},
        {"cuda-device", 0, "N", "the CUDA device that computes",
         .whole = {&o->f.on.ordinal, 0, 1000}},
        {"gl-device", 0, "N",
         "the CUDA device on which OpenGL and Vulkan draw; \"software\": OpenGL draws on the CPU, "
         "with Mesa, without interop to compare with",
         .own = {parse_gl_device, o}},
        {"meshes", 0, "A,B,C", "points per side of up to three meshes (default 64,256,1024)",
         .own = {parse_meshes, o}},
        {"rounds", 0, "N", "blocks of each row", .count = {&e->rounds, 1, 64}},
        {"frames", 0, "N", "minimum number of frames in a block; fewer if they take long",
         .count = {&e->frames, 1, 20000}},
        {"block-seconds", 0, "S",
         "minimum duration of a block; the interop blocks that a row is compared with last half as "
         "long",
         .real = {&e->block_seconds, 1e-6, 60}},
        {"most-seconds", 0, "S", "and at most", .real = {&e->most_seconds, 1e-6, 60}},
        {"only", 0, "A,B",
         "only rows whose key begins with A or B, for example ring/ or bound (default: all; with "
         "two devices those that compare them)",
         .text = &o->only},
        {"why", 0, NULL,
         "also measure the parts of the shared and the copy transport by raw calls, and when "
         "frames are drawn",
         .flag = &o->why},
        {"quick", 0, NULL, "tiny meshes (16,32,64) and blocks: a test of this program",
         .own = {be_quick, o}},
        BENCH_OPTION_JSON(&o->run.json),
        BENCH_OPTION_SVG(&o->run.svg),
        {"with-python", 0, "PYTHON",
         "first run bench_frames.py with that interpreter, for the cuda.core row",
         .text = &o->python},
        {"script", 0, "FILE",
         "the path of bench_frames.py, if it is neither beside this program nor in ../share",
         .text = &o->script},
        {0},
    };
    options_read(
        argc, argv, bench_program, rows,
        "A CUDA kernel writes a mesh of w by w points, and OpenGL or Vulkan draws it into 512 by "
        "512 pixels: raw interop in order, grinterop in order, and the grinterop ring with frames "
        "in flight. Or OpenGL or Vulkan draws a picture of w by w pixels, and CUDA filters it.",
        BENCH_NOTES);
    if (!o->only)
        o->only = usual_rows(o);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool wanted(const struct options *o, const struct frames_kind *kind)
{
    const bool extra = kind->part == FRAMES_WHY || kind->part == FRAMES_WHY_COPY;
    return (!extra || o->why) && (!kind->across || is_across(o)) &&
           bench_is_selected(kind->key, o->only);
}

static void choose_rows(struct options *o)
{
    struct frames_table *table = &o->table;
    for (size_t i = 0; i < frames_kind_count; i++) {
        if (!wanted(o, &frames_kinds[i]))
            continue;
        table->kinds[table->rows++] = &frames_kinds[i];
        if (&frames_kinds[i] == frames_base && o->python)
            table->kinds[table->rows++] = &frames_core;
    }
}

static bool is_gapped(const struct options *o, const struct frames_kind *kind)
{
    return o->why && kind->part != FRAMES_WHY_COPY && kind->part != FRAMES_BOUND &&
           kind->part != FRAMES_VULKAN && !kind->reads &&
           (kind->part != FRAMES_WHY || kind->hand.draw);
}

static bool measure_mesh(struct options *o, size_t m)
{
    struct frames *f = &o->f;
    struct frames_table *table = &o->table;
    struct frames_run base = {.kind = frames_base}, read_base = {.kind = frames_read_base};
    const bool based = f->gl_ordinal != FRAMES_SOFTWARE_GL;
    if (!frames_set_mesh(f, table->mesh[m]) || (based && !frames_base->open(f, &base)) ||
        (based && !frames_read_base->open(f, &read_base)))
        return false;
    for (size_t i = 0; i < table->rows; i++) {
        const struct frames_kind *kind = table->kinds[i];
        if (kind == &frames_core)
            continue;
        bench_progress("mesh %d, row %zu of %zu, %s", table->mesh[m], i + 1, table->rows,
                       kind->key);
        struct frames_run *beside = kind->reads ? &read_base : &base;
        frames_measure(f, based ? beside : NULL, kind, &o->effort, is_gapped(o, kind),
                       &table->results[i][m]);
    }
    bench_progress_end();
    const bool good = !based || frames_read_base->close(f, &read_base);
    return (!based || frames_base->close(f, &base)) && good;
}

/* ---- The steps ------------------------------------------------------------------------------- */

static bool print_error(bool good)
{
    if (!good && *frames_last_error() != '\0')
        fprintf(stderr, "bench_frames: %s\n", frames_last_error());
    return good;
}

/* The Python script runs before any device is open, so that it has the device to itself. */
static bool open(void *of)
{
    struct options *o = of;
    if (o->python && !frames_python(o->python, o->script_path, o->f.on.ordinal, &o->effort,
                                    &o->table, o->version))
        fprintf(stderr, "bench_frames: %s %s failed\n", o->python, o->script_path);
    return print_error(frames_open(&o->f));
}

static void add_facts(void *of, struct bench_machine *machine)
{
    frames_add_facts(&((struct options *)of)->f, machine);
}

static void print_facts(void *of)
{
    const struct options *o = of;
    const bool software = o->f.gl_ordinal == FRAMES_SOFTWARE_GL;
    if (software)
        printf("  OPENGL ON THE CPU: CUDA computes on device %d\n", o->f.on.ordinal);
    else if (is_across(o))
        printf("  TWO DEVICES: CUDA computes on device %d, OpenGL and Vulkan draw on device %d\n",
               o->f.on.ordinal, o->f.gl_ordinal);
    printf("  frames   CUDA writes w x w points of 16 bytes, drawn into %d x %d pixels\n  blocks   "
           "%u of each row%s; from empty queues until all APIs are idle\n",
           FRAMES_TARGET, FRAMES_TARGET, o->effort.rounds,
           software ? "" : ", alternating with raw interop in order");
}

static bool measure(void *of)
{
    struct options *o = of;
    for (size_t m = 0; m < o->table.meshes; m++)
        if (!print_error(measure_mesh(o, m)))
            return false;
    frames_print(&o->table);
    frames_print_goals(&o->table, &o->f);
    return true;
}

static void write_json(void *of, struct json *json)
{
    const struct options *o = of;
    frames_write_json(json, &o->f, o->version, &o->effort, &o->table);
}

static bool draw(void *of, const char *path)
{
    const struct options *o = of;
    return frames_write_svg(path, &o->run.machine, &o->f, &o->table);
}

static bool pictures_right(void *of)
{
    return frames_pictures_right(&((struct options *)of)->table);
}

static void close(void *of)
{
    frames_close(&((struct options *)of)->f);
}

int main(int argc, char *argv[])
{
    static const struct bench_steps steps = {
        .title = "frames that CUDA writes and OpenGL or Vulkan draws, ",
        .open = open,
        .add_facts = add_facts,
        .print_facts = print_facts,
        .measure = measure,
        .write_json = write_json,
        .draw = draw,
        .check = pictures_right,
        .close = close};
    static struct options o = {.effort = USUAL_EFFORT,
                               .table = {.meshes = 3, .mesh = {64, 256, 1024}}};
    read_options(argc, argv, &o);
    o.run.on = &o.f.on;
    if (o.python && !bench_find_script(o.script, o.script_path, sizeof(o.script_path)))
        return 2;
    choose_rows(&o);
    return bench_main(&o.run, &steps, &o);
}
