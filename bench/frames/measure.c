/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row in blocks that alternate with blocks of raw interop in order, so that a drift of
 * clocks or temperature affects both rows alike. A block starts with empty queues and ends when all
 * APIs are idle. It is so long that the queues are full nearly all the time. The number of frames
 * that are unfinished when the thread has enqueued the last one shows whether the queues were full.
 * The last picture of the block is compared with a picture made without sharing.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "bench/frames/frames.h"

enum { LEAST_FRAMES = 32, MOST_ROUNDS = 64, HAND_UNIT = 64 };

/*
 * The difference allowed: the Vulkan and OpenGL compilers may round the last bit of a colour
 * differently.
 */
enum { VULKAN_TOLERANCE = 2 };

/*
 * The queues were full if at least FULL_IF_WAITING frames were waiting at the end, and the thread
 * used less than FULL_IF_THREAD_USED of the time.
 */
static const double FULL_IF_WAITING = 2, FULL_IF_THREAD_USED = 0.9;

struct sample {
    double wall, cpu, waiting;
};

static bool block(struct frames *f, struct frames_run *run, unsigned frames, struct sample *sample)
{
    f->frames_left = frames;
    double cpu = bench_thread_cpu_us(), start = bench_now_us();
    for (unsigned i = 0; i < frames; i += run->kind->group)
        if (!run->kind->frame(f, run))
            return false;
    double enqueued = bench_now_us();
    sample->cpu = (bench_thread_cpu_us() - cpu) / frames;
    if (!frames_drain(f))
        return false;
    double end = bench_now_us();
    sample->wall = (end - start) / frames;
    sample->waiting = (end - enqueued) / sample->wall;
    return frames_gl_ok("draw");
}

/* ---- How long -------------------------------------------------------------------------------- */

static unsigned round_up(double frames, unsigned unit)
{
    return ((unsigned)ceil(frames) + unit - 1) / unit * unit;
}

/*
 * Blocks and warm-ups are multiples of this number of frames: the number that one call passes. Rows
 * of raw calls may signal, wait or flush only every n-th frame; their number is HAND_UNIT, a
 * multiple of each n.
 */
static unsigned unit_of(const struct frames_kind *kind)
{
    return kind->part == FRAMES_WHY ? HAND_UNIT : kind->group;
}

static unsigned warm_up_frames(const struct frames_kind *kind)
{
    unsigned frames = 2 * kind->slots > LEAST_FRAMES ? 2 * kind->slots : LEAST_FRAMES;
    return round_up(frames, unit_of(kind));
}

static unsigned frames_of_block(const struct frames_kind *kind, const struct frames_effort *effort,
                                double frame_us)
{
    double wanted = effort->block_seconds * 1e6 / frame_us;
    double least = fmin(effort->frames, effort->most_seconds * 1e6 / frame_us);
    double frames = fmin(fmax(wanted, least), effort->most_frames);
    unsigned warm = kind->group > 1 ? 2 * kind->group : 8;
    return round_up(fmax(frames, warm), unit_of(kind));
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static bool check(struct frames *f, const struct frames_kind *kind, struct frames_result *result)
{
    int wrong;
    if (kind->unchecked)
        return true;
    if (kind->reads) {
        if (!frames_picture_wrong(f, &wrong))
            return false;
        result->wrong = wrong > result->wrong ? wrong : result->wrong;
        return true;
    }
    if (kind->part != FRAMES_VULKAN)
        frames_read(f);
    else if (!frames_vulkan_read(f))
        return false;
    wrong = frames_count_wrong(f, kind->part == FRAMES_VULKAN ? VULKAN_TOLERANCE : 0);
    result->wrong = wrong > result->wrong ? wrong : result->wrong;
    return true;
}

/* The samples of a row, one per round. */
struct samples {
    double wall[MOST_ROUNDS], cpu[MOST_ROUNDS], waiting[MOST_ROUNDS], times[MOST_ROUNDS];
};

static bool take_rounds(struct frames *f, struct frames_run *base, struct frames_run *run,
                        const struct frames_effort *effort, unsigned base_frames,
                        struct frames_result *result, struct samples *samples)
{
    for (unsigned i = 0; i < effort->rounds; i++) {
        struct sample in_order = {.wall = NAN}, this;
        struct frames_run *turn[2] = {i % 2 ? run : base, i % 2 ? base : run};
        for (unsigned t = 0; t < 2; t++) {
            bool is_base = turn[t] == base;
            if (!turn[t])
                continue;
            if (!block(f, turn[t], is_base ? base_frames : result->frames,
                       is_base ? &in_order : &this) ||
                (!is_base && !check(f, run->kind, result)))
                return false;
        }
        samples->wall[i] = this.wall;
        samples->cpu[i] = this.cpu;
        samples->waiting[i] = this.waiting;
        samples->times[i] = in_order.wall / this.wall;
    }
    return true;
}

static void summarise(struct samples *samples, unsigned rounds, bool based,
                      struct frames_result *result)
{
    result->wall = bench_spread_of(samples->wall, rounds);
    result->times =
        based ? bench_spread_of(samples->times, rounds) : (struct bench_spread){NAN, NAN, NAN};
    result->cpu = bench_spread_of(samples->cpu, rounds).median;
    result->waiting = bench_spread_of(samples->waiting, rounds).median;
    result->full = result->waiting >= FULL_IF_WAITING &&
                   result->cpu < FULL_IF_THREAD_USED * result->wall.median;
    result->measured = true;
}

static bool measure(struct frames *f, struct frames_run *base, struct frames_run *run,
                    const struct frames_effort *effort, bool gaps, struct frames_result *result)
{
    struct sample warm, in_order = {.wall = INFINITY};
    struct samples samples;
    unsigned frames = warm_up_frames(run->kind);
    for (unsigned i = 0; i < 2; i++)
        if (!block(f, run, frames, &warm) || (base && !block(f, base, LEAST_FRAMES, &in_order)))
            return false;
    result->frames = frames_of_block(run->kind, effort, warm.wall);
    unsigned base_frames =
        round_up(fmin(fmax(effort->block_seconds / 2 * 1e6 / in_order.wall, LEAST_FRAMES),
                      effort->most_frames),
                 1);
    if (!take_rounds(f, base, run, effort, base_frames, result, &samples))
        return false;
    summarise(&samples, effort->rounds, base, result);
    return !gaps || frames_gaps(f, run, result->gaps);
}

void frames_measure(struct frames *f, struct frames_run *base, const struct frames_kind *kind,
                    const struct frames_effort *effort, bool gaps, struct frames_result *result)
{
    *result = (struct frames_result){.wrong = kind->unchecked ? -1 : 0};
    struct frames_run *run = calloc(1, sizeof(*run));
    if (!run) {
        snprintf(result->reason, sizeof(result->reason), "out of memory");
        return;
    }
    run->kind = kind;
    bool good = !kind->open || kind->open(f, run);
    if (good)
        good = measure(f, base, run, effort, gaps, result);
    if (!good) {
        result->measured = false;
        snprintf(result->reason, sizeof(result->reason), "%s", frames_last_error());
    }
    /* Pending work must end before its objects are freed. */
    if (!frames_drain(f) && good)
        snprintf(result->reason, sizeof(result->reason), "%s", frames_last_error());
    if (kind->close && !kind->close(f, run) && good)
        snprintf(result->reason, sizeof(result->reason), "%s", frames_last_error());
    free(run);
}
