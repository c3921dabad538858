/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures one row in blocks that alternate with blocks of raw interop in order, so that a drift of
 * clocks or temperature affects both rows alike. A block starts with empty queues and ends when all
 * APIs are idle. It is so long that the queues are full nearly all the time. The number of frames
 * that are unfinished when the thread has enqueued the last one shows whether the queues were full.
 * The last picture of the block is compared with a picture made without sharing.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "bench/frames/frames.h"

struct frames_bench frames_bench = {.effort = {.rounds = 3,
                                               .frames = 1200,
                                               .most_frames = 20000,
                                               .block_seconds = 0.25,
                                               .most_seconds = 0.45},
                                    .meshes = 3,
                                    .mesh = {64, 256, 1024}};

enum { LEAST_FRAMES = 32, MOST_ROUNDS = 64 };

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

/* Blocks and warm-ups are multiples of the number of frames that one call passes. */
static unsigned round_up(double frames, unsigned unit)
{
    return ((unsigned)ceil(frames) + unit - 1) / unit * unit;
}

static unsigned warm_up_frames(const struct frames_kind *kind)
{
    unsigned frames = 2 * kind->slots > LEAST_FRAMES ? 2 * kind->slots : LEAST_FRAMES;
    return round_up(frames, kind->group);
}

static unsigned frames_of_block(const struct frames_kind *kind, const struct frames_effort *effort,
                                double frame_us)
{
    double wanted = effort->block_seconds * 1e6 / frame_us;
    double least = fmin(effort->frames, effort->most_seconds * 1e6 / frame_us);
    double frames = fmin(fmax(wanted, least), effort->most_frames);
    unsigned warm = kind->group > 1 ? 2 * kind->group : 8;
    return round_up(fmax(frames, warm), kind->group);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Sets the pixels of the last picture that are wrong, if there are more than before. */
static bool check(struct frames *f, const struct frames_kind *kind, int *most)
{
    int wrong;
    if (kind->unchecked)
        return true;
    if (kind->reads) {
        if (!frames_picture_wrong(f, &wrong))
            return false;
    } else {
        if (!kind->vulkan)
            frames_read(f);
        else if (!frames_vulkan_read(f))
            return false;
        wrong = frames_count_wrong(f, kind->vulkan ? VULKAN_TOLERANCE : 0);
    }
    *most = wrong > *most ? wrong : *most;
    return true;
}

/* The samples of a row, one per round, and the pixels that were wrong. */
struct samples {
    double wall[MOST_ROUNDS], cpu[MOST_ROUNDS], waiting[MOST_ROUNDS], times[MOST_ROUNDS];
    int wrong;
};

static bool take_rounds(struct frames *f, struct frames_run *base, struct frames_run *run,
                        unsigned base_frames, unsigned frames, struct samples *samples)
{
    for (unsigned i = 0; i < frames_bench.effort.rounds; i++) {
        struct sample in_order = {.wall = NAN}, this;
        struct frames_run *turn[2] = {i % 2 ? run : base, i % 2 ? base : run};
        for (unsigned t = 0; t < 2; t++) {
            bool is_base = turn[t] == base;
            if (!turn[t])
                continue;
            if (!block(f, turn[t], is_base ? base_frames : frames, is_base ? &in_order : &this) ||
                (!is_base && !check(f, run->kind, &samples->wrong)))
                return false;
        }
        samples->wall[i] = this.wall;
        samples->cpu[i] = this.cpu;
        samples->waiting[i] = this.waiting;
        samples->times[i] = in_order.wall / this.wall;
    }
    return true;
}

static void report(struct samples *samples, bool based, const struct frames_kind *kind,
                   struct bench_result *result)
{
    const unsigned rounds = frames_bench.effort.rounds;
    const struct bench_spread wall = bench_spread_of(samples->wall, rounds);
    const double cpu = bench_spread_of(samples->cpu, rounds).median;
    const double waiting = bench_spread_of(samples->waiting, rounds).median;
    bench_set(result, "us_a_frame", wall);
    bench_set(result, "times_in_order",
              based ? bench_spread_of(samples->times, rounds)
                    : (struct bench_spread){NAN, NAN, NAN});
    bench_set_number(result, "cpu_us", cpu);
    bench_set_number(result, "waiting", waiting);
    bench_set_number(result, "wrong_pixels", kind->unchecked ? NAN : samples->wrong);
    result->wrong = samples->wrong > (kind->vulkan ? VULKAN_PIXELS : 0);
    snprintf(result->note, sizeof(result->note), "%s",
             waiting >= FULL_IF_WAITING && cpu < FULL_IF_THREAD_USED * wall.median ? "full"
                                                                                   : "NOT full");
}

static bool measure(struct frames *f, struct frames_run *base, struct frames_run *run,
                    struct bench_result *result)
{
    const struct frames_effort *effort = &frames_bench.effort;
    const struct frames_kind *kind = run->kind;
    struct sample warm, in_order = {.wall = INFINITY};
    struct samples samples = {.wrong = 0};
    for (unsigned i = 0; i < 2; i++)
        if (!block(f, run, warm_up_frames(kind), &warm) ||
            (base && !block(f, base, LEAST_FRAMES, &in_order)))
            return false;
    unsigned base_frames =
        round_up(fmin(fmax(effort->block_seconds / 2 * 1e6 / in_order.wall, LEAST_FRAMES),
                      effort->most_frames),
                 1);
    if (!take_rounds(f, base, run, base_frames, frames_of_block(kind, effort, warm.wall), &samples))
        return false;
    report(&samples, base, kind, result);
    return effort->latency_hz <= 0 || kind->vulkan || kind->reads || kind->group > 1 ||
           !kind->open || frames_latency(f, run, effort->latency_hz, result);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Raw interop in order, in both directions; Mesa on the CPU has no interop. */
static struct frames_run base, read_base;

static bool has_base(const struct frames *f)
{
    return f->gl_ordinal != FRAMES_SOFTWARE_GL;
}

bool frames_open_base(void)
{
    struct frames *f = &frames_bench.f;
    base = (struct frames_run){.kind = frames_base};
    read_base = (struct frames_run){.kind = frames_read_base};
    return !has_base(f) || (frames_base->open(f, &base) && frames_read_base->open(f, &read_base));
}

bool frames_close_base(void)
{
    struct frames *f = &frames_bench.f;
    const bool good = !has_base(f) || frames_read_base->close(f, &read_base);
    return (!has_base(f) || frames_base->close(f, &base)) && good;
}

bool frames_measure(const struct bench_row *row, size_t mesh)
{
    struct frames *f = &frames_bench.f;
    const struct frames_kind *kind = (const struct frames_kind *)(const void *)row;
    char size[48];
    struct frames_run *run = calloc(1, sizeof(*run));
    (void)mesh;
    if (!run)
        return bench_out_of_memory();
    struct bench_result *result = bench_add(row, frames_size(f, size));
    run->kind = kind;
    bool good = (!kind->open || kind->open(f, run)) && measure(f,
                                                               !has_base(f)  ? NULL
                                                               : kind->reads ? &read_base
                                                                             : &base,
                                                               run, result);
    const char *reason = good ? NULL : frames_last_error();
    if (reason)
        snprintf(result->note, sizeof(result->note), "%s", reason);
    result->measured = good;
    /* Pending work must end before its objects are freed. */
    good = frames_drain(f) && good;
    good = (!kind->close || kind->close(f, run)) && good;
    if (result->measured && !good)
        snprintf(result->note, sizeof(result->note), "%s", frames_last_error());
    free(run);
    return true;
}
