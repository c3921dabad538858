/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row. A block that begins with drained queues measures only enqueueing. A block that
 * begins with full queues measures the GPU. When the subject changes, untimed frames of the new
 * subject first replace the frames in the queues, so that a block with full queues measures only
 * its own subject.
 */
#define _GNU_SOURCE
#include <math.h>
#include <unistd.h>

#include "bench/map/map.h"

/*
 * The fastest of a few drained blocks gives the cost of enqueueing. The queues were full if two
 * conditions hold: a frame took FULL_IF_SLOWER times this cost, and at least FULL_IF_QUEUED frames
 * were waiting after the last block.
 */
static const double FULL_IF_SLOWER = 1.1, FULL_IF_QUEUED = 2;

enum { WARM_UP_BLOCKS = 3, CHUNK_FRAMES = 50 };

/* The state of a row during its measurement. */
struct run {
    struct bench *bench;
    const struct bench_kind *kind;
    const struct bench_effort *effort;
    struct bench_pairs pairs;
    /* with full queues: frames per block, frames in the queues, and the subject of those frames */
    unsigned frames, depth, last;
};

static bool enqueue(void *of, unsigned subject, unsigned frames)
{
    const struct run *run = of;
    const bool work = run->kind->part == BENCH_FRAME;
    for (unsigned i = 0; i < frames; i++)
        if (!run->kind->frame[subject](run->bench, run->kind->resources, work))
            return false;
    return true;
}

static bool drained_block(void *of, unsigned subject, struct bench_block *block)
{
    const struct run *run = of;
    return bench_drain(run->bench) &&
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
static bool count_queued(struct bench *bench, double frame_us, double *frames)
{
    double start = bench_now_us();
    if (!bench_drain(bench))
        return false;
    *frames = (bench_now_us() - start) / frame_us;
    return true;
}

/* Fills the queues to determine how many frames they hold, and then fills them again. */
static bool fill_queues(struct run *run)
{
    const struct bench_effort *effort = run->effort;
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

static bool measure_drained(struct run *run, struct bench_row *row)
{
    run->pairs.block = drained_block;
    run->pairs.warm_ups = WARM_UP_BLOCKS;
    run->pairs.blocks = run->effort->blocks;
    run->pairs.seconds = run->effort->room_seconds;
    return bench_compare(&run->pairs, &row->of) && bench_drain(run->bench);
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

static bool measure_full(struct run *run, struct bench_row *row)
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
    return run->kind->part != BENCH_FRAME || bench_check_work(run->bench);
}

bool bench_measure(struct bench *bench, const struct bench_kind *kind,
                   const struct bench_effort *effort, struct bench_row *row)
{
    struct run run = {.bench = bench,
                      .kind = kind,
                      .effort = effort,
                      .pairs = {.key = kind->key,
                                .row = (size_t)(kind - bench_kinds) + 1,
                                .rows = bench_kind_count,
                                .subjects = BENCH_SUBJECTS,
                                .enqueue = enqueue,
                                .of = &run}};
    *row = (struct bench_row){.kind = kind, .queued = NAN, .full = NAN};
    return bench_is_full(kind) ? measure_full(&run, row) : measure_drained(&run, row);
}
