/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row. A block that begins with drained queues measures only enqueueing. A block that
 * begins with full queues measures the GPU. When the subject changes, untimed frames of the new
 * subject first replace the frames in the queues, so that a block with full queues measures only
 * its own subject.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "bench/map/map.h"

/*
 * The fastest of a few drained blocks gives the cost of enqueueing. The queues were full if two
 * conditions hold: a frame took FULL_IF_SLOWER times this cost, and at least FULL_IF_QUEUED frames
 * were waiting after the last block.
 */
static const double FULL_IF_SLOWER = 1.1, FULL_IF_QUEUED = 2;

enum { WARM_UP_BLOCKS = 3, CHUNK_FRAMES = 50 };

/* The result of a row. */
struct row {
    struct bench_comparison of; /* `halves` is from drained blocks only */
    double queued;              /* with full queues: the frames left after the last block */
    bool full; /* whether the queues were full, so that the GPU was the bottleneck */
};

/* The state of a row during its measurement. */
struct run {
    struct map_bench *bench;
    const struct map_kind *kind;
    const struct map_effort *effort;
    struct bench_pairs pairs;
    /* with full queues: frames per block, frames in the queues, and the subject of those frames */
    unsigned frames, depth, last;
};

static bool enqueue(void *of, unsigned subject, unsigned frames)
{
    const struct run *run = of;
    const bool work = run->kind->part == MAP_FRAME;
    for (unsigned i = 0; i < frames; i++)
        if (!run->kind->frame[subject](run->bench, run->kind->resources, work))
            return false;
    return true;
}

static bool drained_block(void *of, unsigned subject, struct bench_block *block)
{
    const struct run *run = of;
    return map_drain(run->bench) &&
           bench_time_block(&run->pairs, subject, run->kind->room_frames, block);
}

static bool full_block(void *of, unsigned subject, struct bench_block *block)
{
    struct run *run = of;
    if (subject != run->last && !enqueue(run, subject, run->depth))
        return false;
    run->last = subject;
    return bench_time_block(&run->pairs, subject, run->frames, block);
}

/*
 * Drains the queues and computes the number of frames that they held, from the duration of a frame.
 */
static bool count_queued(struct map_bench *bench, double frame_us, double *frames)
{
    double start = bench_now_us();
    if (!map_drain(bench))
        return false;
    *frames = (bench_now_us() - start) / frame_us;
    return true;
}

/* Fills the queues to determine how many frames they hold, and then fills them again. */
static bool fill_queues(struct run *run)
{
    const struct map_effort *effort = run->effort;
    const unsigned full = run->kind->full_frames;
    const unsigned frames = full < CHUNK_FRAMES ? full : CHUNK_FRAMES;
    double start = bench_now_us(), pace = 0, queued = 0;
    for (unsigned done = 0; done < effort->fill_frames; done += frames) {
        struct bench_block chunk;
        if (!bench_time_block(&run->pairs, done / frames % 2, frames, &chunk))
            return false;
        pace = chunk.wall;
        if (bench_now_us() - start > effort->fill_seconds * 1e6)
            break;
    }
    if (!count_queued(run->bench, pace, &queued))
        return false;
    run->depth = (unsigned)fmin(fmax(ceil(queued), 1), effort->fill_frames);
    return enqueue(run, 0, run->depth + run->depth / 4);
}

static bool measure_drained(struct run *run, struct row *row)
{
    run->pairs.block = drained_block;
    run->pairs.warm_ups = WARM_UP_BLOCKS;
    run->pairs.blocks = run->effort->blocks;
    run->pairs.seconds = run->effort->room_seconds;
    return bench_compare(&run->pairs, &row->of) && map_drain(run->bench);
}

static bool enqueueing_alone(struct run *run, double *least)
{
    *least = INFINITY;
    for (unsigned i = 0; i < WARM_UP_BLOCKS; i++) {
        struct bench_block block;
        if (!drained_block(run, 0, &block))
            return false;
        *least = fmin(*least, block.wall);
    }
    return true;
}

static bool measure_full(struct run *run, struct row *row)
{
    const unsigned frames = run->kind->full_frames;
    double alone;
    run->frames = frames < run->effort->frames ? frames : run->effort->frames;
    run->pairs.block = full_block;
    run->pairs.blocks = run->effort->full_blocks;
    run->pairs.seconds = INFINITY;
    if (!enqueueing_alone(run, &alone) || !fill_queues(run) ||
        !bench_compare(&run->pairs, &row->of))
        return false;
    const double pace = row->of.wall[0].median;
    row->of.halves = NAN;
    if (!count_queued(run->bench, pace, &row->queued))
        return false;
    row->full = pace > alone * FULL_IF_SLOWER && row->queued >= FULL_IF_QUEUED;
    return run->kind->part != MAP_FRAME || map_check_work(run->bench);
}

/* Adds the values and the notes on the queues. */
static void report(const struct run *run, const struct row *row)
{
    static const char *const subjects[] = {"raw", "grinterop"};
    struct bench_result *result = bench_add(&run->kind->row, "");
    bench_set_comparison(result, &row->of, subjects);
    if (run->kind->full_frames == 0 && !isnan(row->of.halves))
        snprintf(result->note, sizeof(result->note), "2nd half of a block x%.2f", row->of.halves);
    else if (run->kind->full_frames)
        snprintf(result->note, sizeof(result->note),
                 row->full ? "full (%.0f frames waiting)"
                           : "NOT full: enqueueing is the bottleneck",
                 row->queued);
}

bool map_measure(const struct bench_row *of, size_t size)
{
    const struct map_kind *kind = (const struct map_kind *)(const void *)of;
    struct run run = {
        .bench = &map_bench,
        .kind = kind,
        .effort = &map_bench.effort,
        .pairs = {.key = of->name, .subjects = BENCH_SUBJECTS, .enqueue = enqueue, .of = &run}};
    struct row row = {0};
    (void)size;
    if (!(kind->full_frames ? measure_full(&run, &row) : measure_drained(&run, &row)))
        return false;
    report(&run, &row);
    return true;
}
