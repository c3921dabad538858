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

struct publish_bench publish_bench = {.gl_ordinal = -1,
                                      .transport = -1,
                                      .blocks = 15,
                                      .frames = 64,
                                      .ring_frames = 512,
                                      .mebibytes = 512};

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    publish_bench.blocks = 3;
    publish_bench.frames = 4;
    publish_bench.ring_frames = 16;
    publish_bench.mebibytes = 16;
    return publish_bench.quick = true;
}

static const char *const transports[] = {"interop", "copy", "peer", NULL};

static const struct option_row options[] = {
    BENCH_OPTION_DEVICE(&publish_bench.on.ordinal),
    {"gl-device", 0, "N", "the CUDA device on which OpenGL draws, if it is another one",
     .whole = {&publish_bench.gl_ordinal, 0, 1000}},
    {"transport", 0, "WORD", "interop, copy or peer, for the rows of tensors",
     .choice = {&publish_bench.transport, transports}},
    {"plain", 0, NULL, "textures without GR_SURFACE_LOAD_STORE", .flag = &publish_bench.plain},
    {"quick", 0, NULL, "3 blocks of few pictures, 16 MiB of tensors and textures",
     .own = {be_quick, NULL}},
    {0},
};

/* ---- Rows ------------------------------------------------------------------------------------ */

#define TENSOR(name, ...)                                                                          \
    {                                                                                              \
        {name, "", "Tensors to textures", publish_tensor}, __VA_ARGS__, 0, 0, 0, 0, false          \
    }
#define FETCH(name, ...)                                                                           \
    {                                                                                              \
        {name, "", "Textures to tensors", publish_tensor}, __VA_ARGS__, 0, 0, 0, 0, true           \
    }
/* Publishes CHW f16, as a network or a renderer in CUDA writes it. */
#define RING(name, slots, group)                                                                   \
    {                                                                                              \
        {name, "", "Rings, CHW f16 to textures", publish_ring}, GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, \
            1, slots, group, 0, 0, false                                                           \
    }
/* The same to one registered texture, which OpenGL copies; at most `slots` frames ahead of it. */
#define TEXTURE(name, slots, in_flight)                                                            \
    {                                                                                              \
        {name, "", "One texture, CHW f16", publish_texture}, GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, 1, \
            slots, 1, in_flight, 0, false                                                          \
    }
#define FRAMEBUFFER(name, index)                                                                   \
    {                                                                                              \
        .row = {name, "", "Framebuffers to tensors", publish_framebuffer}, .framebuffer = index    \
    }

/* One `staging` with in_flight, or none, so that the library uses its own. */
#define STAGED(name, what, index, n)                                                               \
    {                                                                                              \
        .row = {name, what, "Framebuffers to tensors, in_flight", publish_framebuffer},            \
        .framebuffer = index, .in_flight = n                                                       \
    }

static const struct publish_kind kinds[] = {
    TENSOR("RGBA8", GR_DTYPE_U8, GR_LAYOUT_HWC, 4, 4, 1),
    TENSOR("HWC u8 x 3", GR_DTYPE_U8, GR_LAYOUT_HWC, 3, 3, 1),
    TENSOR("CHW f16", GR_DTYPE_F16, GR_LAYOUT_CHW, 3, 6, 1),
    TENSOR("bool", GR_DTYPE_BOOL, GR_LAYOUT_HWC, 1, 1, 1),
    TENSOR("CHW i16", GR_DTYPE_I16, GR_LAYOUT_CHW, 3, 6, 1),
    TENSOR("HWC f64 x 3", GR_DTYPE_F64, GR_LAYOUT_HWC, 3, 24, 1),
    TENSOR("NV12", GR_DTYPE_U8, GR_LAYOUT_NV12, 0, 3, 2),
    TENSOR("YUV420", GR_DTYPE_U8, GR_LAYOUT_YUV420, 0, 3, 2),
    TENSOR("YUYV", GR_DTYPE_U8, GR_LAYOUT_YUYV, 2, 2, 1),
    FETCH("to NV12", GR_DTYPE_U8, GR_LAYOUT_NV12, 0, 3, 2),
    FETCH("to P016", GR_DTYPE_U16, GR_LAYOUT_P016, 0, 3, 1),
    FETCH("to YUV420", GR_DTYPE_U8, GR_LAYOUT_YUV420, 0, 3, 2),
    FETCH("to YUV444", GR_DTYPE_U8, GR_LAYOUT_YUV444, 3, 3, 1),
    RING("in order", 1, 1),
    RING("4 in flight", 4, 1),
    RING("16 in flight", 16, 1),
    RING("batches of 16", 32, 16),
    TEXTURE("interop", 4, 0),
    TEXTURE("in_flight 2", 2, 2),
    TEXTURE("in_flight 4", 4, 4),
    TEXTURE("in_flight 8", 8, 8),
    TEXTURE("in_flight 16", 16, 16),
    {.row = {"small draws", "", "Framebuffers: 20,000 draws before and after the first read",
             publish_draws}},
    FRAMEBUFFER("RGBA8, HWC u8", 0),
    FRAMEBUFFER("RGBA8, CHW f32", 1),
    FRAMEBUFFER("depth 24, f32", 2),
    FRAMEBUFFER("depth 32F, f32", 3),
    FRAMEBUFFER("depth 24, distance", 4),
    FRAMEBUFFER("depth 32F, distance", 5),
    FRAMEBUFFER("RGBA8 buffer, HWC u8", 6),
    FRAMEBUFFER("depth 24 buffer, f32", 7),
    FRAMEBUFFER("RGBA8 and depth 24", 8),
    FRAMEBUFFER("groups of 16", 9),
    STAGED("no staging, colour", "RGBA8", 0, PUBLISH_NO_STAGING),
    STAGED("in_flight 4, colour", "RGBA8", 0, 4),
    STAGED("in_flight 8, colour", "RGBA8", 0, 8),
    STAGED("no staging, both", "RGBA8 and depth 24", 8, PUBLISH_NO_STAGING),
    STAGED("in_flight 4, both", "RGBA8 and depth 24", 8, 4),
    STAGED("in_flight 8, both", "RGBA8 and depth 24", 8, 8),
    {.slots = 0},
};

static bool wants(const struct bench_row *row, size_t size)
{
    return size == 0 ||
           (row->run != publish_framebuffer && row->run != publish_draws &&
            !(publish_bench.quick && (row->run == publish_ring || row->run == publish_texture)));
}

static const struct bench_goal *goals(void)
{
    static const struct bench_goal all[] = {
        {"RGBA8|HWC u8 x 3|CHW f16|bool|CHW i16|HWC f64 x 3|NV12|YUV420|YUYV|to NV12", NULL,
         "percent_of_copy", NULL, true, 80},
        {"to P016|to YUV420|to YUV444", NULL, "percent_of_copy", NULL, true, 60},
        {"RGBA8, HWC u8|RGBA8, CHW f32|depth 24, f32|depth 32F, f32|depth 24, distance|depth 32F, "
         "distance",
         NULL, "ratio_alone", NULL, false, 1.08},
        {"RGBA8 and depth 24", NULL, "ratio_alone", NULL, false, 1.10},
        {"groups of 16", NULL, "ratio_alone", NULL, false, 1.15},
        {"small draws", NULL, "ratio", NULL, false, 1.01},
        {0}};
    return all;
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool open(void)
{
    struct publish_bench *bench = &publish_bench;
    const int ordinal = bench->gl_ordinal < 0 ? bench->on.ordinal : bench->gl_ordinal;
    bench->cuda = gr_cuda();
    bench->on.egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = ordinal));
    return bench->on.egl ? bench_device_open(&bench->on) : bench_grinterop_failed("gr_egl_create");
}

static void add_facts(struct bench_machine *machine)
{
    bench_add_opengl(machine);
    bench_add_fact(machine, "textures", "textures",
                   "RGBA8, %s; %u MiB of tensors and textures in turn; %u blocks",
                   publish_bench.plain ? "through linear memory" : "by surfaces",
                   publish_bench.mebibytes, publish_bench.blocks);
    bench_add_fact(machine, "times", NULL,
                   "per picture; gpu: by events; copy: cuMemcpy2DAsync of RGBA8; call: of the "
                   "thread; with_map: gr_publish() with map and release, many in a row; upload: "
                   "glTexSubImage2D() of RGBA8 from host memory; latency: from the call to the end "
                   "of the draw; alone: a frame with a map and a release, but without a transfer; "
                   "for groups: the draw and the kernel");
}

static size_t sizes(void)
{
    return sizeof(publish_sizes) / sizeof(*publish_sizes);
}

static void close(void)
{
    publish_end(&publish_bench);
    bench_device_close(&publish_bench.on);
}

const struct bench_setup bench_setup = {
    .about =
        "Measures gr_publish() of tensors to OpenGL textures, compared with the driver copy to "
        "a texture and glTexSubImage2D(), and gr_fetch_framebuffer(), compared with the same "
        "by hand.",
    .options = options,
    .rows = {kinds},
    .row_size = sizeof(*kinds),
    .open = open,
    .add_facts = add_facts,
    .sizes = sizes,
    .wants = wants,
    .goals = goals,
    .close = close};
