/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row. A block that begins with drained queues measures only enqueueing. A block that
 * begins with full queues measures the GPU. When the subject changes, untimed frames of the new
 * subject first replace the frames in the queues, so that a block with full queues measures only
 * its own subject.
 */
#define _GNU_SOURCE
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
    const struct map_kind *kind;
    struct bench_pairs pairs;
    /* with full queues: frames per block, frames in the queues, and the subject of those frames */
    unsigned frames, depth, last;
};

static void enqueue(void *of, unsigned subject, unsigned frames)
{
    const struct map_kind *kind = ((const struct run *)of)->kind;
    for (unsigned i = 0; i < frames; i++)
        kind->frame[subject](kind->resources, kind->work);
}

static void drained_block(void *of, unsigned subject, struct bench_block *block)
{
    const struct run *run = of;
    map_drain();
    bench_time_block(&run->pairs, subject, run->kind->room_frames, block);
}

static void full_block(void *of, unsigned subject, struct bench_block *block)
{
    struct run *run = of;
    if (subject != run->last)
        enqueue(run, subject, run->depth);
    run->last = subject;
    bench_time_block(&run->pairs, subject, run->frames, block);
}

/*
 * Drains the queues and computes the number of frames that they held, from the duration of a frame.
 */
static double count_queued(double frame_us)
{
    const double start = bench_now_us();
    map_drain();
    return (bench_now_us() - start) / frame_us;
}

/* Fills the queues to determine how many frames they hold, and then fills them again. */
static void fill_queues(struct run *run)
{
    const unsigned full = run->kind->full_frames, most = map.effort.fill_frames;
    const unsigned frames = full < CHUNK_FRAMES ? full : CHUNK_FRAMES;
    const double start = bench_now_us();
    struct bench_block chunk = {.wall = 0};
    for (unsigned done = 0; done < most; done += frames) {
        bench_time_block(&run->pairs, done / frames % 2, frames, &chunk);
        if (bench_now_us() - start > map.effort.fill_seconds * 1e6)
            break;
    }
    run->depth = (unsigned)fmin(fmax(ceil(count_queued(chunk.wall)), 1), most);
    enqueue(run, 0, run->depth + run->depth / 4);
}

static double enqueueing_alone(struct run *run)
{
    double least = INFINITY;
    for (unsigned i = 0; i < WARM_UP_BLOCKS; i++) {
        struct bench_block block;
        drained_block(run, 0, &block);
        least = fmin(least, block.wall);
    }
    return least;
}

static struct bench_comparison measure_full(struct run *run, char *note)
{
    const unsigned frames = run->kind->full_frames;
    run->frames = frames < map.effort.frames ? frames : map.effort.frames;
    run->pairs.block = full_block;
    run->pairs.blocks = map.effort.full_blocks;
    run->pairs.seconds = INFINITY;
    const double alone = enqueueing_alone(run);
    fill_queues(run);
    const struct bench_comparison of = bench_compare(&run->pairs);
    const double queued = count_queued(of.wall[0].median);
    const bool full = of.wall[0].median > alone * FULL_IF_SLOWER && queued >= FULL_IF_QUEUED;
    snprintf(note, BENCH_NOTE,
             full ? "full (%.0f frames waiting)" : "NOT full: enqueueing is the bottleneck",
             queued);
    if (run->kind->work)
        map_check_work();
    return of;
}

static struct bench_comparison measure_drained(struct run *run, char *note)
{
    run->pairs.block = drained_block;
    run->pairs.warm_ups = WARM_UP_BLOCKS;
    run->pairs.blocks = map.effort.blocks;
    run->pairs.seconds = map.effort.room_seconds;
    const struct bench_comparison of = bench_compare(&run->pairs);
    map_drain();
    if (!isnan(of.halves))
        snprintf(note, BENCH_NOTE, "2nd half of a block x%.2f", of.halves);
    return of;
}

void map_measure(const void *row)
{
    static const char *const subjects[] = {"raw", "grinterop"};
    const struct map_kind *kind = row;
    struct run run = {
        .kind = kind,
        .pairs = {
            .key = kind->row.name, .subjects = BENCH_SUBJECTS, .enqueue = enqueue, .of = &run}};
    char note[BENCH_NOTE] = "";
    const struct bench_comparison of =
        (kind->full_frames ? measure_full : measure_drained)(&run, note);
    struct bench_result *result = bench_add(row, "");
    bench_set_comparison(result, &of, subjects);
    snprintf(result->note, BENCH_NOTE, "%s", note);
}
