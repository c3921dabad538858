/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --bench: the three figures that decide how a program shares, in less than ten seconds.
 *
 *     a map and a release        what a program pays on the processor for each resource and frame
 *     frames in order            what it gets when OpenGL and CUDA take turns, the simplest way
 *     frames by a ring           what it gets when several frames are under way at once
 *
 * Frames are counted over whole runs, at whose ends both sides are waited for: otherwise it would
 * be the calls that are counted, and not the frames. Of the runs the median is told, with the
 * slowest and the fastest one.
 */
#include "tools/info/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grinterop/egl.h>
#include <grinterop/gl.h>
#include <grinterop/ring.h>

#include "lib/platform/clock.h"
#include "tools/info/finders.h"
#include "tools/info/make_ring.h"
#include "tools/info/say.h"

enum { RUNS = 5, PAIRS = 50, SLOTS = 16, MAP_BYTES = 64 << 10, RUN_MS = 300, RING_MS = 10000 };

/* Of the runs, in their order of size. */
struct spread {
    double least, median, most;
};

/* What a run does again and again; false: it failed. */
struct way {
    bool (*frame)(struct bench *bench, void *its, unsigned number);
    void *its;
};

/* ---- Runs ------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static struct spread spread_of(double runs[RUNS])
{
    qsort(runs, RUNS, sizeof(runs[0]), compare);
    return (struct spread){runs[0], runs[RUNS / 2], runs[RUNS - 1]};
}

static bool wait_for_both(struct bench *bench)
{
    return bench_cuda_wait(bench) && bench_opengl_wait(bench);
}

/* Frames a second; 0: it failed. */
static double run_frames(struct bench *bench, const struct way *way)
{
    unsigned frames = 0;
    double begin = gr_clock_ms();
    for (; gr_clock_ms() - begin < RUN_MS; frames++)
        if (!way->frame(bench, way->its, frames))
            return 0;
    return wait_for_both(bench) ? 1e3 * frames / (gr_clock_ms() - begin) : 0;
}

/* The first run only warms up. */
static bool measure_frames(struct bench *bench, const struct way *way, struct spread *spread)
{
    double runs[RUNS];
    if (run_frames(bench, way) <= 0)
        return false;
    for (int i = 0; i < RUNS; i++)
        if ((runs[i] = run_frames(bench, way)) <= 0)
            return false;
    *spread = spread_of(runs);
    return true;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void say_failure(const struct bench *bench, const char *id, const char *label)
{
    if (bench->failed)
        say(id, MARK_BAD, label, "%s failed. %s", bench->failed,
            strcmp(bench->failed, "cuModuleLoadData") == 0
                ? "The driver's compiler may be missing: libnvidia-ptxjitcompiler.so.1."
                : "grinterop-info --probe tries the way without a clock, and says more.");
    else
        say_error(id, label);
}

#define FRAME                                                                                      \
    "A frame: %s writes 65536 vertices, 1 MiB, and OpenGL draws them as points into 512 x 512 "    \
    "pixels. The median of 5 runs; the slowest %.0f, the fastest %.0f. %s"

#define SOFTWARE "It is the software driver: no figure of it says anything about a GPU."

static void say_frames(const struct bench *bench, const char *id, const char *words,
                       const struct spread *fps)
{
    char label[200];
    snprintf(label, sizeof(label), "%.0f frames a second %s", fps->median, words);
    say(id, MARK_NOTE, label, FRAME, bench->kernel ? "a kernel" : "a fill by CUDA", fps->least,
        fps->most, gr_cuda_is_software() ? SOFTWARE : "Larger frames are fewer.");
    say_fact("frames_per_second", "%.1f", fps->median);
    say_fact("least", "%.1f", fps->least);
    say_fact("most", "%.1f", fps->most);
    say_fact("kernel", "%s", bench->kernel ? "yes" : "no");
}

/* ---- A map and a release --------------------------------------------------------------------- */

/* Microseconds of one; 0: it failed. The queues have room, and are empty again afterwards. */
static double run_pairs(struct bench *bench, gr_resource *resource)
{
    double begin = gr_clock_ms();
    for (int i = 0; i < PAIRS; i++) {
        gr_buffer *buffer = gr_map(resource, bench->stream);
        if (!buffer || gr_buffer_release(buffer) != GR_OK)
            return 0;
    }
    double took = gr_clock_ms() - begin;
    return wait_for_both(bench) ? 1e3 * took / PAIRS : 0;
}

static bool measure_pairs(struct bench *bench, gr_resource *resource, struct spread *us)
{
    double runs[RUNS];
    for (int i = -1; i < RUNS; i++) {
        double took = run_pairs(bench, resource);
        if (took <= 0)
            return false;
        runs[i < 0 ? 0 : i] = took;
    }
    *us = spread_of(runs);
    return true;
}

/* The name of the transport that was taken. */
static const char *name_of(gr_transport transport)
{
    switch (transport) {
    case GR_TRANSPORT_INTEROP:
        return "interop";
    case GR_TRANSPORT_SHARED:
        return "storage for both";
    default:
        return "copies through host memory";
    }
}

/* Without anything that a program has to do for it. */
#define SIMPLE (GR_TRANSPORT_INTEROP | GR_TRANSPORT_COPY)

static gr_resource *make_buffer(size_t size, unsigned transports)
{
    const gr_gl_options options = GR_INIT(gr_gl_options, .transports = transports);
    return gr_gl_buffer_create(size, GR_WRITE_DISCARD, &options);
}

static void bench_map(struct bench *bench)
{
    const char *id = "bench/map";
    char label[160];
    struct spread us;
    gr_resource *resource = make_buffer(MAP_BYTES, SIMPLE);
    if (!resource || !measure_pairs(bench, resource, &us)) {
        say_failure(bench, id, "no figure of a map and a release");
        return;
    }
    snprintf(label, sizeof(label), "%.1f microseconds for a map and a release, by %s", us.median,
             name_of(gr_resource_transport(resource)));
    say(id, MARK_NOTE, label,
        "Time of the calling thread for one buffer of 64 KiB, while the queues have room: the "
        "median of 5 runs of 50; the fastest %.1f, the slowest %.1f. gr_map_many() maps several "
        "in one call. %s",
        us.least, us.most, gr_cuda_is_software() ? SOFTWARE : "");
    say_fact("microseconds", "%.2f", us.median);
    say_fact("least", "%.2f", us.least);
    say_fact("most", "%.2f", us.most);
    gr_resource_free(resource);
}

/* ---- Frames in order ------------------------------------------------------------------------- */

static bool frame_in_order(struct bench *bench, void *its, unsigned number)
{
    gr_resource *resource = its;
    gr_buffer *buffer = gr_map(resource, bench->stream);
    if (!buffer)
        return false;
    bool good = bench_cuda_write(bench, gr_buffer_ptr(buffer), (float)(number % 10) / 10.0f);
    if (gr_buffer_release(buffer) != GR_OK || !good)
        return false;
    bench_opengl_draw(gr_gl_name(resource));
    return true;
}

static void bench_in_order(struct bench *bench)
{
    const char *id = "bench/in-order";
    char words[96];
    struct spread fps;
    gr_resource *resource = make_buffer(BENCH_BYTES, SIMPLE);
    const struct way way = {frame_in_order, resource};
    if (!resource || !measure_frames(bench, &way, &fps)) {
        say_failure(bench, id, "no figure of frames in order");
        return;
    }
    snprintf(words, sizeof(words), "one after the other, by %s",
             name_of(gr_resource_transport(resource)));
    say_frames(bench, id, words, &fps);
    gr_resource_free(resource);
}

/* ---- Frames by a ring ------------------------------------------------------------------------ */

static bool frame_by_ring(struct bench *bench, void *its, unsigned number)
{
    gr_ring *ring = its;
    const gr_slot *slot;
    if (gr_ring_acquire_write(ring, bench->stream, &slot, 1, RING_MS) != GR_OK ||
        !bench_cuda_write(bench, gr_buffer_ptr(slot->buffer), (float)(number % 10) / 10.0f) ||
        gr_ring_publish(ring, &slot, 1) != GR_OK ||
        gr_ring_acquire_read(ring, GR_STREAM_NONE, &slot, 1, RING_MS) != GR_OK)
        return false;
    bench_opengl_draw(gr_gl_name(slot->resource));
    return gr_ring_give_back(ring, &slot, 1) == GR_OK;
}

/* By any transport, which it tells. */
static gr_resource *make_slot(void *transport)
{
    gr_resource *slot = make_buffer(BENCH_BYTES, GR_TRANSPORT_ANY);
    if (slot)
        *(gr_transport *)transport = gr_resource_transport(slot);
    return slot;
}

static void bench_ring(struct bench *bench)
{
    const char *id = "bench/ring";
    char words[96];
    struct spread fps;
    gr_transport transport;
    gr_ring *ring = make_ring(SLOTS, make_slot, &transport);
    const struct way way = {frame_by_ring, ring};
    if (!ring || !measure_frames(bench, &way, &fps)) {
        say_failure(bench, id, "no figure of a ring");
        return;
    }
    snprintf(words, sizeof(words), "with up to 16 under way in a ring, by %s", name_of(transport));
    say_frames(bench, id, words, &fps);
    gr_ring_free(ring);
}

/* ---- All ------------------------------------------------------------------------------------- */

static const struct {
    const char *step;
    void (*measure)(struct bench *bench);
} figures[] = {
    {"maps and releases", bench_map},
    {"frames in order", bench_in_order},
    {"frames by a ring", bench_ring},
};

void find_bench(const struct find *find)
{
    struct bench bench = {.cu = NULL};
    const gr_egl_options options = GR_INIT(gr_egl_options, .cuda_device = find->device);
    gr_egl *egl = gr_egl_create(&options);
    if (!egl || !bench_cuda_open(&bench, find->device) || !bench_opengl_open(&bench)) {
        say_failure(&bench, "bench", "no figures");
        return;
    }
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        say_step(figures[i].step);
        bench.failed = NULL;
        figures[i].measure(&bench);
    }
    bench_cuda_close(&bench);
}
