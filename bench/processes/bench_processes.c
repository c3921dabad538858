/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_processes: measures frames that CUDA fills and OpenGL copies to a buffer of its own, with
 * both sides in two threads and in two processes.
 */
#include <epoxy/gl.h>

#include "bench/processes/processes.h"
#include "tools/options.h"

const char bench_program[] = "bench_processes";

enum { MOST_BLOCKS = 64 };

struct processes processes = {.slots = 6, .frames = 1000, .blocks = 5};
static const char *child;
struct frames_scene scene = {.meshes = {64, 256}, .mesh_count = 2};

static bool be_quick(const char *text, void *into)
{
    (void)text;
    processes.frames = 10;
    processes.blocks = 2;
    return frames_parse_meshes("16", into);
}

static const struct option_row options[] = {
    FRAMES_OPTIONS_DEVICE,
    {"gl-device", 0, "N", "the CUDA device on which OpenGL draws",
     .whole = {&scene.gl_ordinal, 0, 1000}},
    {"slots", 0, "N", "slots of the ring", .whole = {&processes.slots, 1, FRAMES_MOST_SLOTS}},
    {"frames", 0, "N", "frames of a block", .whole = {&processes.frames, 1, 1000000}},
    {"blocks", 0, "N", "blocks of a row", .whole = {&processes.blocks, 1, MOST_BLOCKS}},
    {"meshes", 0, "A,B", "frames have A * A * 16 bytes (default 64,256)",
     .own = {frames_parse_meshes, NULL}},
    {"quick", 0, NULL, "a few small frames: a test of this program", .own = {be_quick, NULL}},
    {"child", 0, "FDS", NULL, .text = &child},
    {0},
};

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A row whose last frame is wrong has failed, too. */
static void measure(const void *row)
{
    double us[MOST_BLOCKS];
    char size[32];
    processes.kind = row;
    processes_consume(us);
    snprintf(size, sizeof(size), "%zu KiB", scene.bytes >> 10);
    bench_set(bench_add(&processes.kind->row, size), "frame_us",
              bench_spread_of(us, (size_t)processes.blocks));
}

#define ROW(name, what)                                                                            \
    {                                                                                              \
        name, what, "Frames that CUDA fills and OpenGL copies", measure                            \
    }

static const struct processes_kind kinds[] = {
    {ROW("raw/threads", "raw calls, two threads"), true, false},
    {ROW("raw/processes", "raw calls, two processes"), true, true},
    {ROW("ring/threads", "ring, two threads"), false, false},
    {ROW("ring/processes", "ring, two processes"), false, true},
    {.raw = false}};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) - 1 };

/* The raw calls need timelines. */
static bool wants(const void *row)
{
    return !((const struct processes_kind *)row)->raw ||
           epoxy_has_gl_extension("GL_NV_timeline_semaphore");
}

static const struct bench_goal goals[] = {
    {"ring/processes", NULL, "frame_us", "ring/threads", false, 1.1},
    {"ring/processes", NULL, "frame_us", "raw/processes", false, 1.1},
    {0}};

/* ---- The run --------------------------------------------------------------------------------- */

/* The process of the other side does all its work here, and exits. */
static void open(void)
{
    bench_goals = goals;
    if (!child) {
        frames_open();
        return;
    }
    for (size_t i = 0; i < KINDS; i++)
        if (bench_is_selected(kinds[i].row.name, bench_only))
            processes.kind = &kinds[i];
    scene.mesh = (int)scene.meshes[0];
    scene.bytes = (size_t)scene.mesh * (size_t)scene.mesh * 16;
    _Exit(bench_print_error(bench_scope(processes_child, (void *)child)) ? 0 : 1);
}

static void add_facts(struct bench_machine *machine)
{
    frames_add_facts(machine);
    bench_add_fact(machine, "frames", "frames", "%d slots; %d blocks of %d frames", processes.slots,
                   processes.blocks, processes.frames);
    if (!epoxy_has_gl_extension("GL_NV_timeline_semaphore"))
        bench_add_fact(machine, "raw", "raw", "this OpenGL has no GL_NV_timeline_semaphore");
}

const struct bench_setup bench_setup = {
    .title = "frames between two threads and between two processes",
    .about = "CUDA fills frames in one thread or process, OpenGL copies them in another.",
    .options = options,
    .rows = {kinds},
    .row_size = sizeof(*kinds),
    .open = open,
    .add_facts = add_facts,
    .sizes = &scene.mesh_count,
    .begin = frames_begin,
    .wants = wants};
