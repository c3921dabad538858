/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_processes: measures frames that CUDA fills and OpenGL copies to a buffer of its own, with
 * both sides in two threads and in two processes.
 */
#include <epoxy/gl.h>

#include "bench/bench_json.h"
#include "bench/processes/processes.h"
#include "tools/options.h"

const char bench_program[] = "bench_processes";

static const struct processes_kind kinds[] = {
    {"raw/threads", "raw calls, two threads", true, false},
    {"raw/processes", "raw calls, two processes", true, true},
    {"ring/threads", "ring, two threads", false, false},
    {"ring/processes", "ring, two processes", false, true}};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), MOST_BLOCKS = 64 };

static struct options {
    struct processes p;
    const char *only, *child;
    double meshes[FRAMES_MESHES];
    size_t mesh_count;
    struct {
        const struct processes_kind *kind;
        size_t bytes;
        struct bench_spread us;
    } rows[KINDS * FRAMES_MESHES];
    size_t count;
} o = {.p = {.slots = 6, .frames = 1000, .blocks = 5},
       .only = "",
       .meshes = {64, 256},
       .mesh_count = 2};

static bool parse_meshes(const char *text, void *into)
{
    (void)into;
    o.mesh_count = bench_parse_numbers("meshes", text, 2, 4096, o.meshes, FRAMES_MESHES);
    return o.mesh_count > 0;
}

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    o.p.frames = 10;
    o.p.blocks = 2;
    o.meshes[0] = 16;
    o.mesh_count = 1;
    return true;
}

static const struct option_row options[] = {
    FRAMES_OPTIONS_DEVICE(&o.p.f),
    {"gl-device", 0, "N", "the CUDA device on which OpenGL draws",
     .whole = {&o.p.f.gl_ordinal, 0, 1000}},
    {"slots", 0, "N", "slots of the ring", .whole = {&o.p.slots, 1, FRAMES_MOST_SLOTS}},
    {"frames", 0, "N", "frames of a block", .whole = {&o.p.frames, 1, 1000000}},
    {"blocks", 0, "N", "blocks of a row", .whole = {&o.p.blocks, 1, MOST_BLOCKS}},
    {"meshes", 0, "A,B", "frames have A * A * 16 bytes (default 64,256)",
     .own = {parse_meshes, NULL}},
    {"only", 0, "A,B", "only rows whose key begins with A or B, for example ring/",
     .text = &o.only},
    {"quick", 0, NULL, "a few small frames: a test of this program", .own = {be_quick, NULL}},
    {"child", 0, "FDS", NULL, .text = &o.child},
    BENCH_OPTION_JSON,
    {0},
};

/* The process of the other side does all its work here, and exits. */
static bool open(void)
{
    if (!o.child)
        return frames_print_error(frames_open(&o.p.f));
    for (size_t i = 0; i < KINDS; i++)
        if (bench_is_selected(kinds[i].key, o.only))
            o.p.kind = &kinds[i];
    o.p.f.mesh = (int)o.meshes[0];
    o.p.f.bytes = (size_t)o.p.f.mesh * (size_t)o.p.f.mesh * 16;
    _Exit(processes_child(&o.p, o.child) ? 0 : 1);
}

static void add_facts(struct bench_machine *machine)
{
    frames_add_facts(&o.p.f, machine);
}

static void print_facts(void)
{
    frames_print_devices(&o.p.f);
    printf("  frames   CUDA fills, OpenGL copies; %d slots; %d blocks of %d frames\n"
           "\nus per frame, median [quartiles]\n",
           o.p.slots, o.p.blocks, o.p.frames);
}

static bool measure_one(const struct processes_kind *kind)
{
    double us[MOST_BLOCKS];
    char text[128];
    o.p.kind = kind;
    if (!processes_consume(&o.p, us))
        return false;
    o.rows[o.count].kind = kind;
    o.rows[o.count].bytes = o.p.f.bytes;
    o.rows[o.count].us = bench_spread_of(us, (size_t)o.p.blocks);
    printf("  %-26s %7zu bytes %24s\n", kind->label, o.p.f.bytes,
           bench_spread_text(text, o.rows[o.count].us));
    fflush(stdout);
    o.count++;
    return true;
}

static bool measure(void)
{
    const bool timelines = epoxy_has_gl_extension("GL_NV_timeline_semaphore");
    for (size_t m = 0; m < o.mesh_count; m++) {
        if (!frames_print_error(frames_set_mesh(&o.p.f, (int)o.meshes[m])))
            return false;
        for (size_t i = 0; i < KINDS; i++)
            if (bench_is_selected(kinds[i].key, o.only) && (timelines || !kinds[i].raw) &&
                !measure_one(&kinds[i]))
                return false;
    }
    if (!timelines)
        printf("  Raw calls: this OpenGL has no GL_NV_timeline_semaphore.\n");
    return true;
}

static void write_json(struct json *json)
{
    json_members(json, "slots %d frames %d cuda_device %d gl_device %d", o.p.slots, o.p.frames,
                 o.p.f.on.ordinal, o.p.f.gl_ordinal);
    json_list(json, "rows");
    for (size_t i = 0; i < o.count; i++) {
        json_object(json, NULL);
        json_members(json, "row %s bytes %zu", o.rows[i].kind->key, o.rows[i].bytes);
        json_spread(json, "frame_us", o.rows[i].us);
        json_end_object(json);
    }
    json_end_list(json);
}

static void close(void)
{
    frames_close(&o.p.f);
}

const struct bench_setup bench_setup = {
    .title = "frames between two threads and between two processes,",
    .about = "CUDA fills frames in one thread or process, OpenGL copies them in another.",
    .options = options,
    .steps = {open, add_facts, print_facts, measure, write_json, NULL, NULL, close}};
