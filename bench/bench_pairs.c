/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Measures rows of two subjects. */
#define _GNU_SOURCE
#include "bench/bench_pairs.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_BLOCKS = 10, SAMPLES = 4 * BENCH_SUBJECTS };

/* The samples of one row, by block. */
struct samples {
    double *wall[BENCH_SUBJECTS], *cpu[BENCH_SUBJECTS], *waiting[BENCH_SUBJECTS], *ratio, *halves;
};

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

static void keep(struct samples *samples, unsigned block, const struct bench_block pair[])
{
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        samples->wall[s][block] = pair[s].wall;
        samples->cpu[s][block] = pair[s].cpu;
        samples->waiting[s][block] = pair[s].waiting;
    }
    samples->ratio[block] = pair[1].wall / pair[0].wall;
    samples->halves[block] = (pair[0].halves + pair[1].halves) / 2;
}

static bool take_blocks(const struct bench_pairs *pairs, struct samples *samples, unsigned *blocks)
{
    struct bench_block pair[BENCH_SUBJECTS] = {{NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}};
    for (unsigned i = 0; i < pairs->warm_ups * pairs->subjects; i++)
        if (!pairs->block(pairs->of, i % pairs->subjects, &pair[0]))
            return false;
    const double end = bench_now_us() + pairs->seconds * 1e6;
    for (*blocks = 0; *blocks < pairs->blocks; ++*blocks) {
        const unsigned block = *blocks;
        if (block >= LEAST_BLOCKS && block % 2 == 0 && bench_now_us() > end)
            break;
        bench_progress("%s: block %u of %u", pairs->key, block + 1, pairs->blocks);
        for (unsigned turn = 0; turn < pairs->subjects; turn++) {
            const unsigned subject = (block + turn) % pairs->subjects;
            if (!pairs->block(pairs->of, subject, &pair[subject]))
                return false;
        }
        keep(samples, block, pair);
    }
    return true;
}

bool bench_compare(const struct bench_pairs *pairs, struct bench_comparison *result)
{
    const size_t n = pairs->blocks;
    double *m = calloc(n * SAMPLES, sizeof(*m));
    if (!m)
        return bench_out_of_memory();
    struct samples samples = {.wall = {m, m + n},
                              .cpu = {m + 2 * n, m + 3 * n},
                              .waiting = {m + 4 * n, m + 5 * n},
                              .ratio = m + 6 * n,
                              .halves = m + 7 * n};
    const bool good = take_blocks(pairs, &samples, &result->blocks);
    for (unsigned s = 0; s < BENCH_SUBJECTS && good; s++) {
        result->wall[s] = bench_spread_of(samples.wall[s], result->blocks);
        result->thread_cpu[s] = bench_spread_of(samples.cpu[s], result->blocks).median;
        result->waiting[s] = bench_spread_of(samples.waiting[s], result->blocks).median;
    }
    result->ratio = bench_spread_of(samples.ratio, result->blocks);
    result->halves = bench_spread_of(samples.halves, result->blocks).median;
    free(m);
    return good;
}

void bench_set_comparison(struct bench_result *result, const struct bench_comparison *of,
                          const char *const subjects[BENCH_SUBJECTS])
{
    static const char *const texts[] = {"%s_us", "%s_cpu_us"};
    char name[32];
    for (unsigned s = BENCH_SUBJECTS; s-- > 0;)
        if (!isnan(of->wall[s].median)) {
            snprintf(name, sizeof(name), texts[0], subjects[s]);
            bench_set(result, name, of->wall[s]);
        }
    if (!isnan(of->ratio.median))
        bench_set(result, "ratio", of->ratio);
    for (unsigned s = BENCH_SUBJECTS; s-- > 0;)
        if (!isnan(of->thread_cpu[s])) {
            snprintf(name, sizeof(name), texts[1], subjects[s]);
            bench_set_number(result, name, of->thread_cpu[s]);
        }
}
