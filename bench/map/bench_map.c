/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_map: measures the cost of a map and release with the driver API and with the library, side
 * by side in one run. It prints how the numbers were measured, since the OpenGL and CUDA queues are
 * so deep that a short loop would not wait for the GPU.
 */
#include <epoxy/gl.h>

#include "bench/map/map.h"
#include "tools/options.h"

const char bench_program[] = "bench_map";

struct map_bench map = {.effort = {.blocks = 601,
                                   .room_seconds = 4,
                                   .full_blocks = 11,
                                   .frames = 100,
                                   .fill_frames = 1500,
                                   .fill_seconds = 0.5,
                                   .many = 10000}};

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    map.effort = (struct map_effort){.blocks = 61,
                                     .room_seconds = 0.5,
                                     .full_blocks = 3,
                                     .frames = 20,
                                     .fill_frames = 600,
                                     .fill_seconds = 0.2,
                                     .many = 10};
    return true;
}

static const struct option_row options[] = {
    BENCH_OPTION_DEVICE(&map.on.ordinal),
    {"room-seconds", 0, "S", "time limit of a row of drained blocks",
     .real = {&map.effort.room_seconds, 0, 3600}},
    {"full-blocks", 0, "N", "blocks of each subject in a row with the queues full",
     .count = {&map.effort.full_blocks, 2, 10000}},
    {"many", 0, "N", "resources of the rows many/", .count = {&map.effort.many, 2, 100000}},
    {"quick", 0, NULL, "61 drained blocks, 3 full ones of up to 20 frames, 10 resources",
     .own = {be_quick, NULL}},
    {0},
};

/* ---- The objects ----------------------------------------------------------------------------- */

static unsigned make_buffer(void)
{
    static const char zeros[MAP_BYTES];
    const unsigned name = bench_gl_buffer();
    glBindBuffer(GL_COPY_WRITE_BUFFER, name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, MAP_BYTES, zeros, 0);
    return name;
}

static const struct bench_goal goals[] = {
    {"room/one|room/pairs|room/singly|room/batch|map/|frame/|register/", NULL, "ratio", NULL, false,
     1.02},
    {"map/pairs", NULL, "grinterop_us", "map/batch", true, 15},
    {"map/singly", NULL, "grinterop_us", "map/batch", true, 15},
    {"room/pairs", NULL, "grinterop_us", "room/batch", true, 15},
    {"room/singly", NULL, "grinterop_us", "room/batch", true, 15},
    {"many/", NULL, "map_us", NULL, false, 0.15},
    {"many/packed/", NULL, "create_us", NULL, false, 70},
    {0}};

static void open(void)
{
    bench_goals = goals;
    bench_open_gl(map.on.ordinal);
    bench_device_open(&map.on);
    if (epoxy_gl_version() < 44 && !epoxy_has_gl_extension("GL_ARB_buffer_storage"))
        bench_fail("glBufferStorage needs OpenGL 4.4");
    for (unsigned i = 0; i < MAP_RESOURCES; i++) {
        map.names[i] = make_buffer();
        GR_KEEP(map.resources[i], from_gl_buffer, map.names[i], GR_WRITE_DISCARD);
        map.handles[i] = gr_resource_get_info(map.resources[i])->graphics;
    }
    map.spare = make_buffer();
    /* The last buffer stays bound as the target of the copies. */
    make_buffer();
    map.pipeline = bench_gl_program_pipeline();
    glBindProgramPipeline(map.pipeline);
    bench_check_gl("make the buffers");
}

void map_drain(void)
{
    CU(StreamSynchronize, map.on.stream);
    glFinish();
}

void map_check_work(void)
{
    float words[2] = {0, 0};
    map_drain();
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, 0, 4, &words[0]);
    glGetBufferSubData(GL_COPY_WRITE_BUFFER, MAP_BYTES - 4, 4, &words[1]);
    bench_check_gl("read the copies");
    if (words[0] != 1 || words[1] != 1)
        bench_fail("OpenGL copied %g and %g instead of the 1 that CUDA wrote, so the frames are "
                   "invalid; no results are shown",
                   (double)words[0], (double)words[1]);
}

/* ---- The run --------------------------------------------------------------------------------- */

static void add_facts(struct bench_machine *machine)
{
    const struct map_effort *effort = &map.effort;
    bench_add_opengl(machine);
    bench_add_fact(machine, "buffers", "buffers",
                   "%d bytes each, immutable storage (glBufferStorage), registered for "
                   "write_discard; both map the same objects",
                   MAP_BYTES);
    bench_add_fact(machine, "blocks", "blocks",
                   "of each subject, alternating (A B B A): drained, up to %u or %g s a row; with "
                   "the queues full, %u",
                   effort->blocks, effort->room_seconds, effort->full_blocks);
}

const struct bench_setup bench_setup = {
    .title = "raw CUDA driver calls, side by side with grinterop",
    .about = "Measures map, pointer and release of registered OpenGL buffers with raw driver calls "
             "and with grinterop, alternating: CPU time with room in the queues, sustained time "
             "with the queues full. Then it creates, maps and frees thousands of resources.",
    .options = options,
    .rows = {map_kinds},
    .row_size = sizeof(*map_kinds),
    .open = open,
    .add_facts = add_facts};
