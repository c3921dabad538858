/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row in blocks of alternating subjects, A B B A, so that a drift of clocks or
 * temperature affects both alike. With drained queues a block times enqueueing alone. With full
 * queues it times the GPU. When the subject changes, as many untimed frames run as the queues hold,
 * so that each block is charged for the frames of its own subject only.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/map/map.h"

/*
 * The fastest of a few drained blocks gives the cost of enqueueing. The queues were full if a frame
 * took longer by this factor, and frames were waiting after the last block.
 */
static const double FULL_IF_SLOWER = 1.1, FULL_IF_QUEUED = 2;

enum { WARM_UP_BLOCKS = 3, LEAST_BLOCKS = 10, CHUNK_FRAMES = 50 };

struct sample {
    double wall, cpu, halves;
};

/* The samples of one row, by block. */
struct samples {
    double *wall[BENCH_SUBJECTS], *cpu[BENCH_SUBJECTS], *ratio, *halves;
};

static bool enqueue(struct bench *bench, const struct bench_kind *kind, unsigned subject,
                    unsigned frames)
{
    bench_frame_fn frame = kind->frame[subject];
    bool work = kind->part == BENCH_FRAME;
    for (unsigned i = 0; i < frames; i++)
        if (!frame(bench, kind->resources, work))
            return false;
    return true;
}

static bool timed_block(struct bench *bench, const struct bench_kind *kind, unsigned subject,
                        unsigned frames, struct sample *sample)
{
    unsigned half = frames / 2;
    double cpu = bench_thread_cpu_us();
    double start = bench_now_us();
    if (!enqueue(bench, kind, subject, half))
        return false;
    double middle = bench_now_us();
    if (!enqueue(bench, kind, subject, frames - half))
        return false;
    double end = bench_now_us();
    sample->cpu = (bench_thread_cpu_us() - cpu) / frames;
    sample->wall = (end - start) / frames;
    sample->halves = half ? ((end - middle) / (frames - half)) / ((middle - start) / half) : NAN;
    return true;
}

static bool drained_block(struct bench *bench, const struct bench_kind *kind, unsigned subject,
                          struct sample *sample)
{
    return bench_drain(bench) && timed_block(bench, kind, subject, kind->room_frames, sample);
}

/* Drains the queues and computes how many frames of that duration they held. */
static bool count_queued(struct bench *bench, double frame_us, double *frames)
{
    double start = bench_now_us();
    if (!bench_drain(bench))
        return false;
    *frames = (bench_now_us() - start) / frame_us;
    return true;
}

/* Fills the queues to determine how many frames they hold, and fills them again. */
static bool fill_queues(struct bench *bench, const struct bench_kind *kind,
                        const struct bench_effort *effort, unsigned *depth)
{
    double start = bench_now_us(), pace = 0, queued = 0;
    unsigned frames = kind->full_frames < CHUNK_FRAMES ? kind->full_frames : CHUNK_FRAMES;
    for (unsigned done = 0; done < effort->fill_frames; done += frames) {
        struct sample chunk;
        if (!timed_block(bench, kind, done / frames % 2, frames, &chunk))
            return false;
        pace = chunk.wall;
        if (bench_now_us() - start > effort->fill_seconds * 1e6)
            break;
    }
    if (!count_queued(bench, pace, &queued))
        return false;
    *depth = (unsigned)fmin(fmax(ceil(queued), 1), effort->fill_frames);
    return enqueue(bench, kind, 0, *depth + *depth / 4);
}

static void show_progress(const struct bench_kind *kind, unsigned block, unsigned blocks)
{
    bench_progress("row %zu of %zu, %s: block %u of %u", (size_t)(kind - bench_kinds) + 1,
                   bench_kind_count, kind->key, block + 1, blocks);
}

static void keep(struct samples *samples, unsigned block, const struct sample pair[])
{
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        samples->wall[s][block] = pair[s].wall;
        samples->cpu[s][block] = pair[s].cpu;
    }
    samples->ratio[block] = pair[1].wall / pair[0].wall;
    samples->halves[block] = (pair[0].halves + pair[1].halves) / 2;
}

static bool measure_drained(struct bench *bench, const struct bench_kind *kind,
                            const struct bench_effort *effort, struct samples *samples,
                            unsigned *blocks)
{
    struct sample pair[BENCH_SUBJECTS];
    for (unsigned i = 0; i < WARM_UP_BLOCKS * BENCH_SUBJECTS; i++)
        if (!drained_block(bench, kind, i % BENCH_SUBJECTS, &pair[0]))
            return false;
    double end = bench_now_us() + effort->room_seconds * 1e6;
    for (*blocks = 0; *blocks < effort->blocks; ++*blocks) {
        unsigned block = *blocks;
        if (block >= LEAST_BLOCKS && block % 2 == 0 && bench_now_us() > end)
            break;
        show_progress(kind, block, effort->blocks);
        for (unsigned turn = 0; turn < BENCH_SUBJECTS; turn++) {
            unsigned subject = (block + turn) % BENCH_SUBJECTS;
            if (!drained_block(bench, kind, subject, &pair[subject]))
                return false;
        }
        keep(samples, block, pair);
    }
    return bench_drain(bench);
}

static bool enqueueing_alone(struct bench *bench, const struct bench_kind *kind, double *least)
{
    *least = INFINITY;
    for (unsigned i = 0; i < WARM_UP_BLOCKS; i++) {
        struct sample sample;
        if (!drained_block(bench, kind, 0, &sample))
            return false;
        *least = fmin(*least, sample.wall);
    }
    return true;
}

static bool measure_full(struct bench *bench, const struct bench_kind *kind,
                         const struct bench_effort *effort, struct samples *samples,
                         struct bench_row *row)
{
    struct sample pair[BENCH_SUBJECTS] = {0};
    unsigned depth = 1, last = 0; /* the subject whose frames are queued */
    unsigned frames = kind->full_frames < effort->frames ? kind->full_frames : effort->frames;
    double alone;
    if (!enqueueing_alone(bench, kind, &alone) || !fill_queues(bench, kind, effort, &depth))
        return false;
    for (unsigned block = 0; block < effort->full_blocks; block++) {
        show_progress(kind, block, effort->full_blocks);
        for (unsigned turn = 0; turn < BENCH_SUBJECTS; turn++) {
            unsigned subject = (block + turn) % BENCH_SUBJECTS;
            if ((subject != last && !enqueue(bench, kind, subject, depth)) ||
                !timed_block(bench, kind, subject, frames, &pair[subject]))
                return false;
            last = subject;
        }
        keep(samples, block, pair);
    }
    if (!count_queued(bench, pair[0].wall, &row->queued))
        return false;
    double pace = bench_spread_of(samples->wall[0], effort->full_blocks).median;
    row->full = pace > alone * FULL_IF_SLOWER && row->queued >= FULL_IF_QUEUED;
    return kind->part != BENCH_FRAME || bench_check_work(bench);
}

bool bench_measure(struct bench *bench, const struct bench_kind *kind,
                   const struct bench_effort *effort, struct bench_row *row)
{
    bool full = bench_is_full(kind);
    unsigned blocks = full ? effort->full_blocks : effort->blocks;
    size_t n = blocks;
    double *memory = calloc(n * 6, sizeof(double));
    if (!memory) {
        fputs("bench_map: out of memory\n", stderr);
        return false;
    }
    struct samples samples = {
        {memory, memory + n}, {memory + 2 * n, memory + 3 * n}, memory + 4 * n, memory + 5 * n};
    *row = (struct bench_row){.kind = kind, .halves = NAN, .queued = NAN, .full = NAN};
    bool good = full ? measure_full(bench, kind, effort, &samples, row)
                     : measure_drained(bench, kind, effort, &samples, &blocks);
    if (good) {
        for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
            row->wall[s] = bench_spread_of(samples.wall[s], blocks);
            row->thread_cpu[s] = bench_spread_of(samples.cpu[s], blocks).median;
        }
        row->blocks = blocks;
        row->ratio = bench_spread_of(samples.ratio, blocks);
        if (!full && kind->room_frames > 1)
            row->halves = bench_spread_of(samples.halves, blocks).median;
    }
    free(memory);
    bench_progress_end();
    return good;
}
