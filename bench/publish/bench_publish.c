/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * bench_publish: measures publishing tensors to RGBA8 textures, compared with the bandwidth of the
 * driver copy to such a texture and with glTexSubImage2D() from host memory.
 */
#include "bench/bench_json.h"
#include "bench/publish/publish.h"
#include "tools/options.h"

const char bench_program[] = "bench_publish";

#define MOST_ROWS 16

static struct options {
    struct publish_effort effort;
    struct publish_bench bench;
    struct publish_row rows[MOST_ROWS];
    size_t count;
    bool only_framebuffers;
    struct ring_row rings[2 * RING_ROWS];
    size_t ring_count;
    bool only_rings, quick;
    struct framebuffer_row framebuffers[FRAMEBUFFER_ROWS];
} o = {.effort = {.blocks = 15, .frames = 64, .ring_frames = 512},
       .bench = {.gl_ordinal = -1, .transport = -1, .mebibytes = 512}};

static bool be_quick(const char *text, void *into)
{
    (void)text, (void)into;
    o.effort = (struct publish_effort){.blocks = 3, .frames = 4, .ring_frames = 16};
    o.bench.mebibytes = 16;
    o.quick = true;
    return true;
}

static const char *const transports[] = {"interop", "copy", "peer", NULL};

static const struct option_row rows[] = {
    BENCH_OPTION_DEVICE(&o.bench.on.ordinal),
    {"gl-device", 0, "N", "the CUDA device on which OpenGL draws, if it is another one",
     .whole = {&o.bench.gl_ordinal, 0, 1000}},
    {"transport", 0, "WORD", "interop, copy or peer, for the table of tensors",
     .choice = {&o.bench.transport, transports}},
    {"framebuffers", 0, NULL, "measure only these", .flag = &o.only_framebuffers},
    {"plain", 0, NULL, "textures without GR_SURFACE_LOAD_STORE", .flag = &o.bench.plain},
    {"rings", 0, NULL, "measure only these", .flag = &o.only_rings},
    {"quick", 0, NULL, "3 blocks of few pictures, 16 MiB of tensors and textures",
     .own = {be_quick, NULL}},
    BENCH_OPTION_JSON,
    {0},
};

/* ---- The table ------------------------------------------------------------------------------- */

static double gigabytes_a_second(size_t bytes, double us)
{
    return (double)bytes / us / 1e3;
}

/*
 * The bandwidth of a row, in percent of the bytes that the driver copy reads and writes in the same
 * time.
 */
static double percent_of_copy(const struct publish_row *row)
{
    const size_t copied = (size_t)row->size.width * row->size.height * 8;
    return 100 * gigabytes_a_second(row->bytes, row->gpu.median) /
           gigabytes_a_second(copied, row->copy.median);
}

static void print_facts(void)
{
    printf("  textures RGBA8, %s; %u MiB of tensors and textures in turn; %u blocks\n",
           o.bench.plain ? "through linear memory" : "by surfaces", o.bench.mebibytes,
           o.effort.blocks);
}

static void print_head(void)
{
    printf(
        "\nus per picture, median [quartiles]; GB/s: read and written; goal: 80 %% of the copy\n");
    printf("  %-11s %-11s %19s %6s %19s %6s %5s %7s %9s %9s\n", "size", "tensor", "GPU", "GB/s",
           "cuMemcpy2DAsync", "GB/s", "%", "a call", "with map", "upload");
    fflush(stdout);
}

static void print_row(const struct publish_row *row)
{
    char size[32], gpu[128], copy[128], call[32], whole[32], upload[32];
    const size_t copied = (size_t)row->size.width * row->size.height * 8;
    snprintf(size, sizeof(size), "%u x %u", row->size.width, row->size.height);
    printf("  %-11s %-11s %19s %6.0f %19s %6.0f %5.0f %7s %9s %9s\n", size, row->kind->name,
           bench_spread_text(gpu, row->gpu), gigabytes_a_second(row->bytes, row->gpu.median),
           bench_spread_text(copy, row->copy), gigabytes_a_second(copied, row->copy.median),
           percent_of_copy(row), bench_number(call, row->call.median),
           bench_number(whole, row->whole.median), bench_number(upload, row->upload.median));
    fflush(stdout);
}

static void print_foot(void)
{
    printf("  a call: thread time in gr_buffer_publish(). with map: gr_publish() including map and "
           "release,\n  many in a row. upload: glTexSubImage2D() of RGBA8 from host memory.\n");
}

static void write_row(struct json *json, const struct publish_row *row)
{
    json_object(json, NULL);
    json_members(json, "tensor %s width %u height %u bytes %zu", row->kind->name, row->size.width,
                 row->size.height, row->bytes);
    json_spread(json, "gpu_us", row->gpu);
    json_spread(json, "copy_us", row->copy);
    json_members(json, "percent_of_copy %g", percent_of_copy(row));
    json_spread(json, "call_us", row->call);
    json_spread(json, "with_map_us", row->whole);
    json_spread(json, "upload_us", row->upload);
    json_end_object(json);
}

static void write_json(struct json *json)
{
    json_truth(json, "surfaces", !o.bench.plain);
    json_list(json, "rows");
    for (size_t i = 0; i < o.count; i++)
        write_row(json, &o.rows[i]);
    json_end_list(json);
    json_list(json, "rings");
    for (size_t i = 0; i < o.ring_count; i++) {
        const struct ring_row *row = &o.rings[i];
        json_object(json, NULL);
        json_members(json, "row %s width %u height %u", row->name, row->size.width,
                     row->size.height);
        json_spread(json, "frame_us", row->us);
        json_spread(json, "latency_us", row->latency);
        json_end_object(json);
    }
    json_end_list(json);
    json_list(json, "framebuffers");
    for (size_t i = 0; i < FRAMEBUFFER_ROWS && o.framebuffers[i].name; i++) {
        const struct framebuffer_row *row = &o.framebuffers[i];
        json_object(json, NULL);
        json_members(json, "row %s", row->name);
        json_spread(json, "grinterop_us", row->times.wall[1]);
        json_spread(json, "by_hand_us", row->times.wall[0]);
        json_spread(json, "ratio_of_block_pairs", row->times.ratio);
        json_end_object(json);
    }
    json_end_list(json);
}

/* ---- The run --------------------------------------------------------------------------------- */

static bool open(void)
{
    const int ordinal = o.bench.gl_ordinal < 0 ? o.bench.on.ordinal : o.bench.gl_ordinal;
    o.bench.cuda = gr_cuda();
    o.bench.on.egl = gr_egl_create(&GR_INIT(gr_egl_options, .cuda_device = ordinal));
    return o.bench.on.egl ? bench_device_open(&o.bench.on)
                          : bench_grinterop_failed("gr_egl_create");
}

static bool measure_framebuffers(void)
{
    printf("\nframebuffers of 1920 x 1080, us per picture; goal of the ratio: <= 1\n"
           "  %-19s %19s %19s %19s\n",
           "tensor", "grinterop", "by hand", "ratio");
    for (unsigned i = 0; i < FRAMEBUFFER_ROWS; i++) {
        struct framebuffer_row *row = &o.framebuffers[i];
        const struct bench_comparison *times = &row->times;
        char texts[3][128];
        if (!framebuffer_measure(&o.bench, &o.effort, i, row))
            return false;
        printf("  %-19s %19s %19s %19s\n", row->name, bench_spread_text(texts[0], times->wall[1]),
               bench_spread_text(texts[1], times->wall[0]),
               bench_spread_text(texts[2], times->ratio));
        fflush(stdout);
    }
    return true;
}

/* Publishes CHW f16, as a network or a renderer in CUDA writes it. */
static bool measure_rings(void)
{
    printf("\nCHW f16 to a ring, us per frame; latency: from the call to the end of the draw\n"
           "  %-11s %-14s %19s %9s %19s\n",
           "size", "ring", "frame", "a second", "latency");
    for (size_t i = 0; i < publish_size_count * RING_ROWS; i++) {
        struct ring_row *row = &o.rings[i];
        char texts[2][128], size[32];
        row->size = o.quick ? (struct publish_size){64, 36} : publish_sizes[i / RING_ROWS];
        if ((i % RING_ROWS == 0 && !publish_make(&o.bench, &publish_kinds[2], row->size)) ||
            !ring_measure(&o.bench, &o.effort, i % RING_ROWS, row))
            return false;
        if (i % RING_ROWS == RING_ROWS - 1)
            publish_end(&o.bench);
        snprintf(size, sizeof(size), "%u x %u", row->size.width, row->size.height);
        printf("  %-11s %-14s %19s %9.0f %19s\n", size, row->name,
               bench_spread_text(texts[0], row->us), 1e6 / row->us.median,
               bench_spread_text(texts[1], row->latency));
        fflush(stdout);
        o.ring_count++;
    }
    return true;
}

static bool measure(void)
{
    if (o.only_framebuffers)
        return measure_framebuffers();
    if (o.only_rings)
        return measure_rings();
    print_head();
    for (size_t s = 0; s < publish_size_count; s++)
        for (size_t k = 0; k < publish_kind_count; k++) {
            struct publish_row *row = &o.rows[o.count];
            *row = (struct publish_row){.kind = &publish_kinds[k], .size = publish_sizes[s]};
            if (!publish_make(&o.bench, row->kind, row->size) ||
                !publish_measure(&o.bench, &o.effort, row))
                return false;
            publish_end(&o.bench);
            print_row(row);
            o.count++;
        }
    print_foot();
    return measure_rings() && measure_framebuffers();
}

static void close(void)
{
    publish_end(&o.bench);
    bench_device_close(&o.bench.on);
}

const struct bench_setup bench_setup = {
    .about =
        "Measures gr_publish() of tensors to OpenGL textures, compared with the driver copy to "
        "a texture and glTexSubImage2D(), and gr_fetch_framebuffer(), compared with the same "
        "by hand.",
    .options = rows,
    .steps = {open, bench_add_opengl, print_facts, measure, write_json, NULL, NULL, close}};
