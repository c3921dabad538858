/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_frames: measures what a frame costs when CUDA writes its mesh and OpenGL or Vulkan draws
 * it, for each transport, side by side in one run.
 */
#include <string.h>

#include "bench/frames/frames.h"
#include "tools/options.h"

const char bench_program[] = "bench_frames";

struct frames_scene scene = {.meshes = {64, 256, 1024}, .mesh_count = 3};

/* ---- Options --------------------------------------------------------------------------------- */

static bool be_quick(const char *text, void *into)
{
    (void)text;
    frames_effort = (struct frames_effort){
        .rounds = 2, .frames = 24, .most_frames = 48, .block_seconds = 0.01, .most_seconds = 0.05};
    return frames_parse_meshes("16,32,64", into);
}

static const struct option_row options[] = {
    FRAMES_OPTIONS_DEVICE,
    {"gl-device", 0, "N",
     "the CUDA device on which OpenGL and Vulkan draw; \"software\": OpenGL draws on the CPU, with "
     "Mesa, without interop to compare with, and without Vulkan",
     .own = {frames_parse_gl_device, NULL}},
    {"meshes", 0, "A,B,C", "points per side of up to three meshes (default 64,256,1024)",
     .own = {frames_parse_meshes, NULL}},
    {"rounds", 0, "N", "blocks of each row", .count = {&frames_effort.rounds, 1, 64}},
    {"block-seconds", 0, "S",
     "minimum duration of a block; the interop blocks that a row is compared with last half as "
     "long",
     .real = {&frames_effort.block_seconds, 1e-6, 60}},
    {"most-seconds", 0, "S", "and at most", .real = {&frames_effort.most_seconds, 1e-6, 60}},
    {"latency", 0, "HZ",
     "also measure the latency of frames at this rate, from the call and from the end of the "
     "kernel, in rows in which OpenGL draws",
     .real = {&frames_effort.latency_hz, 1, 1e6}},
    {"quick", 0, NULL, "tiny meshes (16,32,64) and blocks: a test of this program",
     .own = {be_quick, NULL}},
    {0},
};

/* ---- Rows and goals -------------------------------------------------------------------------- */

/* The default rows: ACROSS if there are two devices, SOFTWARE if Mesa draws on the CPU. */
static const char ACROSS[] = "kernel,draw,bound,transfer,raw,grinterop,copy,peer,shared,image/,"
                             "ring/1,staged/,hand/,vulkan/draw,vulkan/1,vulkan/copy/,vulkan/peer/"
                             ",read/";
static const char SOFTWARE[] = "kernel,draw,bound,transfer,copy,read/bound,read/copy";

static bool wants(const void *row)
{
    const struct frames_kind *kind = row;
    const bool across = frames_is_across();
    if (kind->across && !across)
        return false;
    return bench_only ||
           bench_is_selected(kind->row.name, scene.gl_ordinal == FRAMES_SOFTWARE_GL ? SOFTWARE
                                             : across                               ? ACROSS
                                                                                    : "");
}

#define SMALL  "64 x 64 points (64 KiB)"
#define MEDIUM "256 x 256 points (1 MiB)"
#define LARGE  "1024 x 1024 points (16 MiB)"

#define SPEEDUP(rows, size, wanted)                                                                \
    {                                                                                              \
        rows, size, "times_in_order", NULL, true, wanted                                           \
    }
#define BOUND(rows, size, wanted)                                                                  \
    {                                                                                              \
        rows, size, "us_a_frame", "bound", false, wanted                                           \
    }

/*
 * If CUDA and OpenGL use two devices, there are no context switches, so one frame in flight is
 * enough.
 */
static const struct bench_goal on_one[] = {
    SPEEDUP("ring/1", SMALL, 2.5),    SPEEDUP("ring/16", SMALL, 7),
    SPEEDUP("group/64", SMALL, 11.5), SPEEDUP("ring/16", MEDIUM, 4.3),
    SPEEDUP("group/64", MEDIUM, 5.7), BOUND("ring/", LARGE, 1.25),
    BOUND("group/8", LARGE, 1.06),    {0}};
static const struct bench_goal on_two[] = {BOUND("ring/1|hand/1", SMALL, 1.25),
                                           BOUND("ring/1|hand/1", MEDIUM, 1.1),
                                           BOUND("ring/1|hand/1", LARGE, 1.05),
                                           SPEEDUP("ring/1|hand/1", SMALL, 30),
                                           SPEEDUP("ring/1|hand/1", MEDIUM, 17),
                                           SPEEDUP("ring/1|hand/1", LARGE, 2.8),
                                           {0}};
static const struct bench_goal on_cpu[] = {
    {"copy/4", NULL, "us_a_frame", "draw|transfer", false, 1.2}, {0}};

static void open(void)
{
    bench_goals = scene.gl_ordinal == FRAMES_SOFTWARE_GL ? on_cpu
                  : frames_is_across()                   ? on_two
                                                         : on_one;
    frames_open();
}

/* ---- The run --------------------------------------------------------------------------------- */

static void add_facts(struct bench_machine *machine)
{
    frames_add_facts(machine);
    bench_add_fact(machine, "frames", "frames",
                   "CUDA writes w x w points of 16 bytes, drawn into %d x %d pixels", FRAMES_TARGET,
                   FRAMES_TARGET);
    bench_add_fact(
        machine, "blocks", "blocks",
        "%u of each row, of %g to %g s, from empty queues until all APIs are idle%s",
        frames_effort.rounds, frames_effort.block_seconds, frames_effort.most_seconds,
        scene.gl_ordinal == FRAMES_SOFTWARE_GL ? "" : ", alternating with raw interop in order");
}

static void begin(void)
{
    frames_begin();
    frames_open_base();
}

const struct bench_setup bench_setup = {
    .title = "frames that CUDA writes and OpenGL or Vulkan draws",
    .about = "A CUDA kernel writes a mesh of w by w points, and OpenGL or Vulkan draws "
             "it into 512 by 512 pixels: raw interop in order, grinterop in order, and "
             "the grinterop ring with frames in flight. Or OpenGL draws a picture of w by "
             "w pixels, and CUDA filters it.",
    .options = options,
    .rows = {frames_draw_rows, frames_hand_rows, frames_vulkan_rows, frames_read_rows},
    .row_size = sizeof(*frames_draw_rows),
    .open = open,
    .add_facts = add_facts,
    .sizes = &scene.mesh_count,
    .begin = begin,
    .wants = wants};
