/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Measures and prints rows of two subjects. */
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
        bench_progress("row %zu of %zu, %s: block %u of %u", pairs->row, pairs->rows, pairs->key,
                       block + 1, pairs->blocks);
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
    bench_progress_end();
    return good;
}

double bench_ratio_of_medians(const struct bench_comparison *result)
{
    return result->wall[1].median / result->wall[0].median;
}

/* ---- Printing -------------------------------------------------------------------------------- */

void bench_print_comparison_head(const char *title, const char *counts,
                                 const char *const subjects[BENCH_SUBJECTS], bool added)
{
    printf("\n%s; us per frame, median [quartiles]\n", title);
    printf("  %-15s %s %21s %21s %7s %21s %8s %17s  %squeues\n", "", counts, subjects[0],
           subjects[1], "ratio", "of block pairs", "to reach", "thread CPU, both",
           added ? "added (difference of medians); " : "");
}

void bench_print_comparison(const struct bench_comparison *result, const char *goal)
{
    char a[128], b[128], c[32], d[128], e[32], f[32];
    printf(" %21s %21s %7s %21s %8s %8s %8s ", bench_spread_text(a, result->wall[0]),
           bench_spread_text(b, result->wall[1]), bench_number(c, bench_ratio_of_medians(result)),
           bench_spread_text(d, result->ratio), goal, bench_number(e, result->thread_cpu[0]),
           bench_number(f, result->thread_cpu[1]));
}

void bench_print_speedup(const char *label, const struct bench_comparison *many,
                         const struct bench_comparison *batch, const char *goal)
{
    char a[32], b[32];
    if (many && batch)
        printf("    %-34s %14s %14s%s\n", label,
               bench_number(a, many->wall[0].median / batch->wall[0].median),
               bench_number(b, many->wall[1].median / batch->wall[1].median), goal);
}
