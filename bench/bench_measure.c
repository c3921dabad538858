/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Clocks and quartiles, and measures blocks and pairs of blocks of two subjects. Medians and
 * quartiles are used instead of means, so that one block disturbed by another process does not
 * shift the result.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"

enum { LEAST_BLOCKS = 10 };

static double clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double bench_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

double bench_thread_cpu_us(void)
{
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A quantile of sorted samples, interpolated between neighbouring samples. */
static double quantile(const double *sorted, size_t count, double fraction)
{
    double at = fraction * (double)(count - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct bench_spread bench_spread_of(double *values, size_t count)
{
    if (count == 0)
        return (struct bench_spread){NAN, NAN, NAN};
    qsort(values, count, sizeof(*values), compare);
    return (struct bench_spread){quantile(values, count, 0.25), quantile(values, count, 0.5),
                                 quantile(values, count, 0.75)};
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

void bench_measure(const struct bench_blocks *b, struct bench_spread spreads[])
{
    double values[BENCH_BLOCK_VALUES];
    double *samples = bench_alloc(b->blocks * b->values * sizeof(*samples));
    for (unsigned i = 0; i < b->warm_ups; i++)
        b->block(values);
    const double end = bench_now_us() + b->seconds * 1e6;
    unsigned done = 0;
    for (; done < b->blocks; done++) {
        if (done >= LEAST_BLOCKS && done % 2 == 0 && bench_now_us() > end)
            break;
        bench_progress("%s: block %u of %u", b->key, done + 1, b->blocks);
        b->block(values);
        for (size_t v = 0; v < b->values; v++)
            samples[v * b->blocks + done] = values[v];
    }
    for (size_t v = 0; v < b->values; v++)
        spreads[v] = bench_spread_of(samples + v * b->blocks, done);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

void bench_enqueue(const struct bench_pairs *pairs, unsigned subject, unsigned frames)
{
    if (pairs->prepare)
        pairs->prepare(pairs->of, subject, frames);
    pairs->enqueue(pairs->of, subject, frames);
}

struct bench_block bench_time_block(const struct bench_pairs *pairs, unsigned subject,
                                    unsigned frames)
{
    const unsigned half = pairs->mode == BENCH_FINISHED ? 0 : frames / 2;
    struct bench_block block = {.halves = NAN, .waiting = NAN};
    if (pairs->mode != BENCH_SUSTAINED)
        pairs->drain();
    if (pairs->prepare)
        pairs->prepare(pairs->of, subject, frames);
    const double cpu = bench_thread_cpu_us();
    const double start = bench_now_us();
    if (half)
        pairs->enqueue(pairs->of, subject, half);
    const double middle = bench_now_us();
    pairs->enqueue(pairs->of, subject, frames - half);
    const double enqueued = bench_now_us();
    block.cpu = (bench_thread_cpu_us() - cpu) / frames;
    block.wall = (enqueued - start) / frames;
    if (half)
        block.halves = ((enqueued - middle) / (frames - half)) / ((middle - start) / half);
    if (pairs->mode != BENCH_FINISHED)
        return block;
    pairs->drain();
    const double end = bench_now_us();
    block.wall = (end - start) / frames;
    block.waiting = (end - enqueued) / block.wall;
    return block;
}

/* The values of a pair of blocks; the first three have one for each subject. */
enum { WALL, CPU = 2, WAITING = 4, RATIO = 6, TIMES, HALVES, VALUES };

static const struct bench_pairs *compared;
static unsigned number, last; /* the pairs so far, and the subject of the last block */

static void take_block(unsigned subject, struct bench_block *block)
{
    const struct bench_pairs *pairs = compared;
    if (pairs->frames[subject] == 0)
        return;
    if (subject != last && pairs->refill)
        bench_enqueue(pairs, subject, pairs->refill);
    last = subject;
    *block = bench_time_block(pairs, subject, pairs->frames[subject]);
    if (pairs->check)
        pairs->check(pairs->of, subject, block);
}

static void take_pair(double *values)
{
    struct bench_block pair[BENCH_SUBJECTS] = {{NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
    for (unsigned turn = 0; turn < BENCH_SUBJECTS; turn++) {
        const unsigned subject = (number + turn) % BENCH_SUBJECTS;
        take_block(subject, &pair[subject]);
    }
    number++;
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        values[WALL + s] = pair[s].wall;
        values[CPU + s] = pair[s].cpu;
        values[WAITING + s] = pair[s].waiting;
    }
    values[RATIO] = pair[1].wall / pair[0].wall;
    values[TIMES] = pair[0].wall / pair[1].wall;
    values[HALVES] = (pair[0].halves + pair[1].halves) / 2;
}

struct bench_comparison bench_compare(const struct bench_pairs *pairs)
{
    struct bench_spread s[VALUES];
    const struct bench_blocks blocks = {pairs->key,     pairs->warm_ups, pairs->blocks,
                                        pairs->seconds, VALUES,          take_pair};
    compared = pairs;
    number = last = 0;
    bench_measure(&blocks, s);
    return (struct bench_comparison){
        .wall = {s[WALL], s[WALL + 1]},
        .thread_cpu = {s[CPU].median, s[CPU + 1].median},
        .waiting = {s[WAITING].median, s[WAITING + 1].median},
        .ratio = s[RATIO],
        .times = s[TIMES],
        .halves = s[HALVES].median,
    };
}

void bench_set_comparison(struct bench_result *result, const struct bench_comparison *of,
                          const char *const subjects[BENCH_SUBJECTS])
{
    char name[32];
    for (unsigned s = BENCH_SUBJECTS; s-- > 0;)
        if (!isnan(of->wall[s].median)) {
            snprintf(name, sizeof(name), "%s_us", subjects[s]);
            bench_set(result, name, of->wall[s]);
        }
    if (!isnan(of->ratio.median))
        bench_set(result, "ratio", of->ratio);
    for (unsigned s = BENCH_SUBJECTS; s-- > 0;)
        if (!isnan(of->thread_cpu[s])) {
            snprintf(name, sizeof(name), "%s_cpu_us", subjects[s]);
            bench_set_number(result, name, of->thread_cpu[s]);
        }
    if (!isnan(of->halves))
        snprintf(result->note, sizeof(result->note), "2nd half of a block x%.2f", of->halves);
}
