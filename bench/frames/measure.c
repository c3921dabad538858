/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row in blocks that alternate with blocks of raw interop in order, so that a drift of
 * clocks or temperature affects both rows alike. A block starts with empty queues and ends when all
 * APIs are idle. It is so long that the queues are full nearly all the time. The number of frames
 * that are unfinished when the thread has enqueued the last one shows whether the queues were full.
 * The last picture of the block is compared with a picture made without sharing.
 */
#define _GNU_SOURCE
#include "bench/frames/frames.h"

struct frames_effort frames_effort = {
    .rounds = 3, .frames = 1200, .most_frames = 20000, .block_seconds = 0.25, .most_seconds = 0.45};

enum { LEAST_FRAMES = 32 };

/*
 * The differences allowed: the Vulkan and OpenGL compilers may round the last bit of a colour
 * differently, and may place single points a pixel apart.
 */
enum { VULKAN_TOLERANCE = 2, VULKAN_PIXELS = FRAMES_TARGET * FRAMES_TARGET / 200 };

/*
 * The queues were full if at least FULL_IF_WAITING frames were waiting at the end, and the thread
 * used less than FULL_IF_THREAD_USED of the time.
 */
static const double FULL_IF_WAITING = 2, FULL_IF_THREAD_USED = 0.9;

/* The subjects: raw interop in order, which Mesa on the CPU lacks, and the row. */
enum { BASE, ROW };

static struct pair {
    struct frames_run *run[BENCH_SUBJECTS];
    struct bench_result *result;
    int wrong; /* the most wrong pixels of a last picture of the row */
} pair;

/*
 * If the half that writes is ahead with n frames in flight, the other half is n frames behind it.
 * Writes until n frames are ready, or until the block has no frames left. So the first call of a
 * block writes several frames, and the last calls write none.
 */
void frames_step(struct frames_run *run)
{
    const struct frames_kind *kind = run->kind;
    const frames_fn first = kind->reads ? kind->way->graphics : kind->way->cuda;
    const frames_fn second = kind->reads ? kind->way->cuda : kind->way->graphics;
    if (kind->way->ahead)
        while (scene.frames_left > 0 && gr_ring_get_info(run->ring)->ready < kind->slots - 2)
            first(run);
    else if (first)
        first(run);
    if (second)
        second(run);
}

static void enqueue(void *of, unsigned subject, unsigned frames)
{
    struct frames_run *run = pair.run[subject];
    (void)of;
    scene.frames_left = frames;
    for (unsigned i = 0; i < frames; i += run->kind->group)
        frames_step(run);
}

/* ---- How long -------------------------------------------------------------------------------- */

/* Blocks and warm-ups are multiples of the number of frames that one call passes. */
static unsigned round_up(double frames, unsigned unit)
{
    return ((unsigned)ceil(frames) + unit - 1) / unit * unit;
}

static unsigned frames_of_block(const struct frames_kind *kind, double frame_us)
{
    const double wanted = frames_effort.block_seconds * 1e6 / frame_us;
    const double least = fmin(frames_effort.frames, frames_effort.most_seconds * 1e6 / frame_us);
    const double frames = fmin(fmax(wanted, least), frames_effort.most_frames);
    const unsigned warm = kind->group > 1 ? 2 * kind->group : 8;
    return round_up(fmax(frames, warm), kind->group);
}

/* Two blocks of both subjects, which also give the number of frames of a block that counts. */
static void warm_up(struct bench_pairs *pairs)
{
    const struct frames_kind *kind = pair.run[ROW]->kind;
    const unsigned least = 2 * kind->slots > LEAST_FRAMES ? 2 * kind->slots : LEAST_FRAMES;
    double row_us = NAN, base_us = INFINITY;
    for (unsigned i = 0; i < 2; i++) {
        row_us = bench_time_block(pairs, ROW, round_up(least, kind->group)).wall;
        if (pair.run[BASE])
            base_us = bench_time_block(pairs, BASE, LEAST_FRAMES).wall;
    }
    const double wanted = fmax(frames_effort.block_seconds / 2 * 1e6 / base_us, LEAST_FRAMES);
    if (pair.run[BASE])
        pairs->frames[BASE] = round_up(fmin(wanted, frames_effort.most_frames), 1);
    pairs->frames[ROW] = frames_of_block(kind, row_us);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Counts the wrong pixels of the last picture. */
static int count_wrong(const struct frames_kind *kind)
{
    if (kind->unchecked)
        return 0;
    if (kind->reads)
        return frames_picture_wrong(kind->clears);
    if (kind->vulkan)
        frames_vulkan_read();
    else
        frames_read();
    return frames_count_wrong(kind->vulkan ? VULKAN_TOLERANCE : 0);
}

static void check(void *of, unsigned subject, struct bench_block *block)
{
    (void)of, (void)block;
    bench_check_gl("draw");
    const int wrong = subject == ROW ? count_wrong(pair.run[ROW]->kind) : 0;
    pair.wrong = wrong > pair.wrong ? wrong : pair.wrong;
}

static void report(const struct bench_comparison *of, struct bench_result *result)
{
    const struct frames_kind *kind = pair.run[ROW]->kind;
    const double wall = of->wall[ROW].median, cpu = of->thread_cpu[ROW];
    bench_set(result, "us_a_frame", of->wall[ROW]);
    bench_set(result, "times_in_order", of->times);
    bench_set_number(result, "cpu_us", cpu);
    bench_set_number(result, "waiting", of->waiting[ROW]);
    bench_set_number(result, "wrong_pixels", kind->unchecked ? NAN : pair.wrong);
    result->wrong = pair.wrong > (kind->vulkan ? VULKAN_PIXELS : 0);
    snprintf(result->note, sizeof(result->note), "%s",
             of->waiting[ROW] >= FULL_IF_WAITING && cpu < FULL_IF_THREAD_USED * wall ? "full"
                                                                                     : "NOT full");
}

static void measure(void *none)
{
    struct frames_run *run = pair.run[ROW];
    const struct frames_kind *kind = run->kind;
    struct bench_pairs pairs = {.key = kind->row.name,
                                .mode = BENCH_FINISHED,
                                .blocks = frames_effort.rounds,
                                .seconds = INFINITY,
                                .drain = frames_drain,
                                .enqueue = enqueue,
                                .check = check};
    (void)none;
    if (kind->way->open)
        kind->way->open(run);
    bench_at_end(frames_drain); /* pending work ends before its objects */
    warm_up(&pairs);
    const struct bench_comparison of = bench_compare(&pairs);
    report(&of, pair.result);
    if (frames_effort.latency_hz > 0 && !kind->vulkan && !kind->reads && kind->group == 1 &&
        kind->way->open)
        frames_latency(run, frames_effort.latency_hz, pair.result);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Raw interop in order: CUDA writes, CUDA reads, and CUDA reads what OpenGL cleared. */
static const struct frames_kind base_kinds[] = {
    {.slots = 1, .group = 1, .way = &frames_raw},
    {.slots = 1, .group = 1, .way = &frames_raw, .reads = true},
    {.slots = 1, .group = 1, .way = &frames_raw, .reads = true, .clears = true}};
enum { BASES = sizeof(base_kinds) / sizeof(*base_kinds) };
static struct frames_run bases[BASES];

static bool has_base(void)
{
    return scene.gl_ordinal != FRAMES_SOFTWARE_GL;
}

void frames_open_base(void)
{
    for (size_t i = 0; has_base() && i < BASES; i++) {
        bases[i] = (struct frames_run){.kind = &base_kinds[i]};
        frames_raw.open(&bases[i]);
    }
}

void frames_measure(const void *row)
{
    const struct frames_kind *kind = row;
    char size[48];
    struct frames_run *run = bench_alloc(sizeof(*run));
    struct bench_result *result = bench_add(row, frames_size(size));
    run->kind = kind;
    pair = (struct pair){.run = {has_base() ? &bases[kind->reads + kind->clears] : NULL, run},
                         .result = result};
    if (!bench_scope(measure, NULL))
        bench_not_measured(result, bench_last_error());
    /* An error may have left them, and the next size draws before its first row. */
    scene.queries = NULL;
    scene.ended = NULL;
}
