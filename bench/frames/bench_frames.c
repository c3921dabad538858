/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_frames: measures what a frame costs when CUDA writes its mesh and OpenGL or Vulkan draws
 * it, for each transport, side by side in one run. Writes a table, a JSON file and a chart.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_json.h"
#include "bench/frames/frames.h"
#include "tools/options.h"

const char bench_program[] = "bench_frames";

static struct options {
    struct frames f;
    struct frames_effort effort;
    struct frames_table table;
    bool why;
    const char *only, *python, *script;
    char version[FRAMES_PYTHON]; /* the Python version */
} o = {.effort = {.rounds = 3,
                  .frames = 1200,
                  .most_frames = 20000,
                  .block_seconds = 0.25,
                  .most_seconds = 0.45},
       .table = {.meshes = 3, .mesh = {64, 256, 1024}}};

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_meshes(const char *text, void *into)
{
    (void)into;
    double mesh[FRAMES_MESHES];
    o.table.meshes = bench_parse_numbers("meshes", text, 2, 4096, mesh, FRAMES_MESHES);
    for (size_t m = 0; m < o.table.meshes; m++)
        o.table.mesh[m] = (int)mesh[m];
    return o.table.meshes > 0;
}

static bool be_quick(const char *text, void *into)
{
    (void)text;
    o.effort = (struct frames_effort){
        .rounds = 2, .frames = 24, .most_frames = 48, .block_seconds = 0.01, .most_seconds = 0.05};
    return parse_meshes("16,32,64", into);
}

static bool parse_gl_device(const char *text, void *into)
{
    (void)into;
    if (strcmp(text, "software") != 0)
        return bench_parse_device("gl-device", text, &o.f.gl_ordinal);
    o.f.gl_ordinal = FRAMES_SOFTWARE_GL;
    return true;
}

/* The default rows: ACROSS if there are two devices, SOFTWARE if Mesa draws on the CPU. */
static const char ACROSS[] =
    "kernel,draw,bound,transfer,raw,grinterop,copy,peer,shared,image/,"
    "ring/1,hand/,vulkan/draw,vulkan/1,vulkan/copy/,vulkan/peer/,vulkan/image/,read/,vulkan/read/";
static const char SOFTWARE[] =
    "kernel,draw,bound,transfer,copy,read/bound,read/copy,vulkan/draw,vulkan/copy/1,vulkan/copy/4";

static const char *usual_rows(void)
{
    return o.f.gl_ordinal == FRAMES_SOFTWARE_GL ? SOFTWARE : frames_is_across(&o.f) ? ACROSS : "";
}

static const struct option_row rows[] = {
    FRAMES_OPTIONS_DEVICE(&o.f),
    {"gl-device", 0, "N",
     "the CUDA device on which OpenGL and Vulkan draw; \"software\": they draw on the CPU, with "
     "Mesa, without interop to compare with",
     .own = {parse_gl_device, NULL}},
    {"meshes", 0, "A,B,C", "points per side of up to three meshes (default 64,256,1024)",
     .own = {parse_meshes, NULL}},
    {"rounds", 0, "N", "blocks of each row", .count = {&o.effort.rounds, 1, 64}},
    {"block-seconds", 0, "S",
     "minimum duration of a block; the interop blocks that a row is compared with last half as "
     "long",
     .real = {&o.effort.block_seconds, 1e-6, 60}},
    {"most-seconds", 0, "S", "and at most", .real = {&o.effort.most_seconds, 1e-6, 60}},
    {"only", 0, "A,B",
     "only rows whose key begins with A or B, for example ring/ or bound (default: all; with "
     "two devices those that compare them)",
     .text = &o.only},
    {"why", 0, NULL,
     "also measure the parts of the shared and the copy transport by raw calls, and when frames "
     "are drawn",
     .flag = &o.why},
    {"quick", 0, NULL, "tiny meshes (16,32,64) and blocks: a test of this program",
     .own = {be_quick, NULL}},
    BENCH_OPTION_JSON,
    BENCH_OPTION_SVG,
    {"with-python", 0, "PYTHON",
     "first run bench_frames.py with that interpreter, for the cuda.core row", .text = &o.python},
    {0},
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static bool wanted(const struct frames_kind *kind)
{
    const bool extra = kind->part == FRAMES_WHY || kind->part == FRAMES_WHY_COPY;
    return (!extra || o.why) && (!kind->across || frames_is_across(&o.f)) &&
           bench_is_selected(kind->key, o.only);
}

static void choose_rows(void)
{
    struct frames_table *table = &o.table;
    if (!o.only)
        o.only = usual_rows();
    for (size_t i = 0; i < frames_kind_count; i++) {
        if (!wanted(&frames_kinds[i]))
            continue;
        table->kinds[table->rows++] = &frames_kinds[i];
        if (&frames_kinds[i] == frames_base && o.python)
            table->kinds[table->rows++] = &frames_core;
    }
}

static bool is_gapped(const struct frames_kind *kind)
{
    return o.why && kind->part != FRAMES_WHY_COPY && kind->part != FRAMES_BOUND &&
           kind->part != FRAMES_VULKAN && !kind->reads &&
           (kind->part != FRAMES_WHY || kind->hand.draw);
}

static bool measure_mesh(size_t m)
{
    struct frames *f = &o.f;
    struct frames_table *table = &o.table;
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
        frames_measure(f, based ? beside : NULL, kind, &o.effort, is_gapped(kind),
                       &table->results[i][m]);
    }
    bench_progress_end();
    const bool good = !based || frames_read_base->close(f, &read_base);
    return (!based || frames_base->close(f, &base)) && good;
}

/* ---- The steps ------------------------------------------------------------------------------- */

/*
 * Opens the devices. The Python script runs before any of them is open, so that the script has the
 * device to itself.
 */
static bool open(void)
{
    if (o.python && !(o.script = bench_find_script()))
        exit(2);
    choose_rows();
    if (o.python &&
        !frames_python(o.python, o.script, o.f.on.ordinal, &o.effort, &o.table, o.version))
        fprintf(stderr, "bench_frames: %s %s failed\n", o.python, o.script);
    return frames_print_error(frames_open(&o.f));
}

static void add_facts(struct bench_machine *machine)
{
    frames_add_facts(&o.f, machine);
}

static void print_facts(void)
{
    frames_print_devices(&o.f);
    printf("  frames   CUDA writes w x w points of 16 bytes, drawn into %d x %d pixels\n  blocks   "
           "%u of each row%s; from empty queues until all APIs are idle\n",
           FRAMES_TARGET, FRAMES_TARGET, o.effort.rounds,
           o.f.gl_ordinal == FRAMES_SOFTWARE_GL ? "" : ", alternating with raw interop in order");
}

static bool measure(void)
{
    for (size_t m = 0; m < o.table.meshes; m++)
        if (!frames_print_error(measure_mesh(m)))
            return false;
    frames_print(&o.table);
    frames_print_goals(&o.table, &o.f);
    return true;
}

static void write_json(struct json *json)
{
    frames_write_json(json, &o.f, o.version, &o.effort, &o.table);
}

static bool draw(const char *path, const struct bench_machine *machine)
{
    return frames_write_svg(path, machine, &o.f, &o.table);
}

static bool pictures_right(void)
{
    return frames_pictures_right(&o.table);
}

static void close(void)
{
    frames_close(&o.f);
}

const struct bench_setup bench_setup = {
    .title = "frames that CUDA writes and OpenGL or Vulkan draws,",
    .about = "A CUDA kernel writes a mesh of w by w points, and OpenGL or Vulkan draws "
             "it into 512 by 512 pixels: raw interop in order, grinterop in order, and "
             "the grinterop ring with frames in flight. Or OpenGL or Vulkan draws a "
             "picture of w by w pixels, and CUDA filters it.",
    .options = rows,
    .steps = {open, add_facts, print_facts, measure, write_json, draw, pictures_right, close}};
