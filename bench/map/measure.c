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

static void enqueue(void *of, unsigned subject, unsigned frames)
{
    const struct map_kind *kind = of;
    for (unsigned i = 0; i < frames; i++)
        kind->frame[subject](kind->resources, kind->work);
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
static void fill_queues(struct bench_pairs *pairs, unsigned full_frames)
{
    const unsigned most = map.effort.fill_frames;
    const unsigned frames = full_frames < CHUNK_FRAMES ? full_frames : CHUNK_FRAMES;
    const double start = bench_now_us();
    struct bench_block chunk = {.wall = 0};
    for (unsigned done = 0; done < most; done += frames) {
        chunk = bench_time_block(pairs, done / frames % 2, frames);
        if (bench_now_us() - start > map.effort.fill_seconds * 1e6)
            break;
    }
    pairs->refill = (unsigned)fmin(fmax(ceil(count_queued(chunk.wall)), 1), most);
    bench_enqueue(pairs, 0, pairs->refill + pairs->refill / 4);
}

static double enqueueing_alone(struct bench_pairs pairs, unsigned frames)
{
    double least = INFINITY;
    pairs.mode = BENCH_ENQUEUED;
    for (unsigned i = 0; i < WARM_UP_BLOCKS; i++)
        least = fmin(least, bench_time_block(&pairs, 0, frames).wall);
    return least;
}

static struct bench_comparison measure_full(struct bench_pairs *pairs, char *note)
{
    const struct map_kind *kind = pairs->of;
    const double alone = enqueueing_alone(*pairs, kind->room_frames);
    fill_queues(pairs, kind->full_frames);
    const struct bench_comparison of = bench_compare(pairs);
    const double queued = count_queued(of.wall[0].median);
    const bool full = of.wall[0].median > alone * FULL_IF_SLOWER && queued >= FULL_IF_QUEUED;
    snprintf(note, BENCH_NOTE,
             full ? "full (%.0f frames waiting)" : "NOT full: enqueueing is the bottleneck",
             queued);
    if (kind->work)
        map_check_work();
    return of;
}

void map_measure(const void *row)
{
    static const char *const subjects[] = {"raw", "grinterop"};
    const struct map_effort *effort = &map.effort;
    const struct map_kind *kind = row;
    const unsigned most = kind->full_frames < effort->frames ? kind->full_frames : effort->frames;
    const unsigned frames = most ? most : kind->room_frames;
    struct bench_pairs pairs = {.key = kind->row.name,
                                .mode = most ? BENCH_SUSTAINED : BENCH_ENQUEUED,
                                .frames = {frames, frames},
                                .warm_ups = most ? 0 : WARM_UP_BLOCKS,
                                .blocks = most ? effort->full_blocks : effort->blocks,
                                .seconds = most ? INFINITY : effort->room_seconds,
                                .drain = map_drain,
                                .enqueue = enqueue,
                                .of = (void *)kind};
    char note[BENCH_NOTE];
    const struct bench_comparison of = most ? measure_full(&pairs, note) : bench_compare(&pairs);
    map_drain();
    struct bench_result *result = bench_add(row, "");
    bench_set_comparison(result, &of, subjects);
    if (most)
        snprintf(result->note, BENCH_NOTE, "%s", note);
}
