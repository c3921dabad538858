/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Measures blocks, and pairs of blocks of two subjects. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>

#include "bench/bench.h"

enum { LEAST_BLOCKS = 10 };

bool bench_measure(const struct bench_blocks *b, struct bench_spread spreads[])
{
    double values[BENCH_BLOCK_VALUES];
    double *samples = calloc((size_t)b->blocks * b->values, sizeof(*samples));
    bool good = samples || bench_out_of_memory();
    for (unsigned i = 0; good && i < b->warm_ups; i++)
        good = b->block(b->of, i, values);
    const double end = bench_now_us() + b->seconds * 1e6;
    unsigned done = 0;
    for (; good && done < b->blocks; done++) {
        if (done >= LEAST_BLOCKS && done % 2 == 0 && bench_now_us() > end)
            break;
        bench_progress("%s: block %u of %u", b->key, done + 1, b->blocks);
        good = b->block(b->of, done, values);
        for (size_t v = 0; v < b->values; v++)
            samples[v * b->blocks + done] = values[v];
    }
    for (size_t v = 0; good && v < b->values; v++)
        spreads[v] = bench_spread_of(samples + v * b->blocks, done);
    free(samples);
    return good;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

bool bench_time_block(const struct bench_pairs *pairs, unsigned subject, unsigned frames,
                      struct bench_block *block)
{
    const unsigned half = frames / 2;
    const double cpu = bench_thread_cpu_us();
    const double start = bench_now_us();
    if (!pairs->enqueue(pairs->of, subject, half))
        return false;
    const double middle = bench_now_us();
    if (!pairs->enqueue(pairs->of, subject, frames - half))
        return false;
    const double end = bench_now_us();
    block->cpu = (bench_thread_cpu_us() - cpu) / frames;
    block->wall = (end - start) / frames;
    block->halves = half ? ((end - middle) / (frames - half)) / ((middle - start) / half) : NAN;
    block->waiting = NAN;
    return true;
}

/* The values of a pair of blocks; the first three have one for each subject. */
enum { WALL, CPU = 2, WAITING = 4, RATIO = 6, TIMES, HALVES, VALUES };

static bool take_pair(void *of, unsigned number, double *values)
{
    const struct bench_pairs *pairs = of;
    struct bench_block pair[BENCH_SUBJECTS] = {{NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
    for (unsigned turn = 0; turn < pairs->subjects; turn++) {
        const unsigned subject = (number + turn) % pairs->subjects;
        if (!pairs->block(pairs->of, subject, &pair[subject]))
            return false;
    }
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        values[WALL + s] = pair[s].wall;
        values[CPU + s] = pair[s].cpu;
        values[WAITING + s] = pair[s].waiting;
    }
    values[RATIO] = pair[1].wall / pair[0].wall;
    values[TIMES] = pair[0].wall / pair[1].wall;
    values[HALVES] = (pair[0].halves + pair[1].halves) / 2;
    return true;
}

bool bench_compare(const struct bench_pairs *pairs, struct bench_comparison *result)
{
    struct bench_spread spreads[VALUES];
    if (!bench_measure(&(struct bench_blocks){pairs->key, pairs->warm_ups, pairs->blocks,
                                              pairs->seconds, VALUES, take_pair, (void *)pairs},
                       spreads))
        return false;
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        result->wall[s] = spreads[WALL + s];
        result->thread_cpu[s] = spreads[CPU + s].median;
        result->waiting[s] = spreads[WAITING + s].median;
    }
    result->ratio = spreads[RATIO];
    result->times = spreads[TIMES];
    result->halves = spreads[HALVES].median;
    return true;
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
}
