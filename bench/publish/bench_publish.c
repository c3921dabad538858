/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_publish: measures publishing tensors to RGBA8 textures, and fetching such textures to YUV,
 * compared with the bandwidth of the driver copy to such a texture and with glTexSubImage2D() from
 * host memory; publishing to rings; and reading framebuffers into tensors, compared with the same
 * by hand.
 */
#include "bench/publish/publish.h"
#include "tools/options.h"

const char bench_program[] = "bench_publish";

struct publish publish = {.gl_ordinal = -1,
                          .transport = -1,
                          .blocks = 15,
                          .frames = 64,
                          .ring_frames = 512,
                          .mebibytes = 512};

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    publish.blocks = 3;
    publish.frames = 4;
    publish.ring_frames = 16;
    publish.mebibytes = 16;
    return publish.quick = true;
}

static const char *const transports[] = {"interop", "copy", "peer", NULL};

static const struct option_row options[] = {
    BENCH_OPTION_DEVICE(&publish.on.ordinal),
    {"gl-device", 0, "N", "the CUDA device on which OpenGL draws, if it is another one",
     .whole = {&publish.gl_ordinal, 0, 1000}},
    {"transport", 0, "WORD", "interop, copy or peer, for the rows of tensors",
     .choice = {&publish.transport, transports}},
    {"plain", 0, NULL, "textures without GR_SURFACE_LOAD_STORE", .flag = &publish.plain},
    {"quick", 0, NULL, "3 blocks of few pictures, 16 MiB of tensors and textures",
     .own = {be_quick, NULL}},
    {0},
};

/* ---- The run --------------------------------------------------------------------------------- */

static bool wants(const void *row)
{
    const struct publish_kind *kind = row;
    return bench_size == 0 || !(kind->one_size || (publish.quick && kind->slots));
}

static const struct bench_goal goals[] = {
    {"RGBA8|HWC u8 x 3|CHW f16|bool|CHW i16|HWC f64 x 3|NV12|YUV420|YUYV|to NV12", NULL,
     "percent_of_copy", NULL, true, 80},
    {"buffer to NV12|to P016|to P010|to NV16|to YUV420|to YUV422|to YUV444|to YUYV", NULL,
     "percent_of_copy", NULL, true, 60},
    {"to 64 tiles", NULL, "ratio_whole", NULL, false, 1.1},
    {"RGBA8, HWC u8|RGBA8, CHW f32|depth 24, f32|depth 24, distance", NULL, "ratio_alone", NULL,
     false, 1.08},
    {"RGBA8 and depth 24", NULL, "ratio_alone", NULL, false, 1.10},
    {"groups of 16", NULL, "ratio_alone", NULL, false, 1.15},
    {"small draws", NULL, "ratio", NULL, false, 1.01},
    {0}};

static void open(void)
{
    bench_goals = goals;
    bench_open_gl(publish.gl_ordinal < 0 ? publish.on.ordinal : publish.gl_ordinal);
    bench_device_open(&publish.on);
}

static void add_facts(struct bench_machine *machine)
{
    bench_add_opengl(machine);
    bench_add_fact(machine, "textures", "textures",
                   "RGBA8, %s; %u MiB of tensors and textures in turn; %u blocks",
                   publish.plain ? "through linear memory" : "by surfaces", publish.mebibytes,
                   publish.blocks);
    bench_add_fact(machine, "times", NULL,
                   "per picture; gpu: by events; copy: cuMemcpy2DAsync of RGBA8; call: of the "
                   "thread; with_map: gr_publish() with map and release, many in a row; upload: "
                   "glTexSubImage2D() of RGBA8 from host memory; latency: from the call to the end "
                   "of the draw; cpu: of the thread, until all is enqueued; alone: a frame with a "
                   "map and a release, but without a transfer; "
                   "for groups: the draw and the kernel");
}

const struct bench_setup bench_setup = {
    .about =
        "Measures gr_publish() of tensors to OpenGL textures, compared with the driver copy to "
        "a texture and glTexSubImage2D(), and gr_fetch_framebuffer(), compared with the same "
        "by hand.",
    .options = options,
    .rows = {publish_tensor_rows, publish_ring_rows, publish_framebuffer_rows},
    .row_size = sizeof(*publish_tensor_rows),
    .open = open,
    .add_facts = add_facts,
    .sizes = &publish_size_count,
    .wants = wants};
