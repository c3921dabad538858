/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Measures the cost of barriers in a kernel that has nothing else, and in kernels that sum rows. */
#include <string.h>

#include "softcuda/bench/softcuda.h"

#define ROUNDS 64u

struct barrier_row {
    unsigned threads, rows;
    const unsigned *numbers;
    unsigned *sums;
};

/* ---- Barriers alone -------------------------------------------------------------------------- */

static void launch_barriers(struct soft_bench *bench, const struct barrier_row *row,
                            unsigned rounds, unsigned times)
{
    const unsigned grid[2] = {1, 1}, block[2] = {row->threads, 1};
    for (unsigned i = 0; i < times; i++)
        soft_launch(bench, "meet", grid, block, (void *[]){&bench->to, &rounds});
    soft_wait(bench);
}

static void run_without_barriers(struct soft_bench *bench, void *row, unsigned times)
{
    launch_barriers(bench, row, 0, times);
}

static void run_with_barriers(struct soft_bench *bench, void *row, unsigned times)
{
    launch_barriers(bench, row, ROUNDS, times);
}

static void measure_barriers(struct soft_bench *bench, unsigned threads)
{
    static const struct soft_way ways[] = {{"no barrier", run_without_barriers},
                                           {"64 barriers", run_with_barriers}};
    struct barrier_row row = {.threads = threads};
    char text[64];
    snprintf(text, sizeof(text), "a block of %u", threads);
    const struct soft_time *times = soft_measure(bench, text, ways, 2, &row, threads);
    printf("  %-26s %.1f ns per barrier and thread\n", "",
           (times[1].us.median - times[0].us.median) * 1e3 / (threads * ROUNDS));
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void by_loop(struct soft_bench *bench, void *data, unsigned times)
{
    const struct barrier_row *row = data;
    (void)bench;
    for (unsigned i = 0; i < times; i++)
        sequential_sums(row->sums, row->numbers, row->rows, row->threads);
}

static void by_tree(struct soft_bench *bench, void *data, unsigned times)
{
    const struct barrier_row *row = data;
    const unsigned grid[2] = {row->rows, 1}, block[2] = {row->threads, 1};
    for (unsigned i = 0; i < times; i++)
        soft_launch(bench, "sum_tree", grid, block, (void *[]){&bench->to, &bench->from});
    soft_wait(bench);
}

static void by_rows(struct soft_bench *bench, void *data, unsigned times)
{
    struct barrier_row *row = data;
    const unsigned grid[2] = {(row->rows + 63) / 64, 1}, block[2] = {64, 1};
    void *parameters[] = {&bench->to, &bench->from, &row->rows, &row->threads};
    for (unsigned i = 0; i < times; i++)
        soft_launch(bench, "sum_row", grid, block, parameters);
    soft_wait(bench);
}

static const struct soft_way sums[] = {
    {"loop, one core", by_loop}, {"without barriers", by_rows}, {"with barriers", by_tree}};

static void compare(struct soft_bench *bench, struct barrier_row *row)
{
    unsigned wanted = 0;
    for (unsigned w = 0; w < 3; w++) {
        memset(row->sums, 0, row->rows * sizeof(*row->sums));
        sums[w].run(bench, row, 1);
        unsigned sum = 0;
        for (unsigned i = 0; i < row->rows; i++)
            sum = sum * 31 + row->sums[i];
        if (w > 0 && sum != wanted) {
            printf("  WRONG: %s differs from %s\n", sums[w].name, sums[0].name);
            bench->wrong++;
        }
        wanted = sum;
    }
}

static void sum(struct soft_bench *bench, unsigned count, unsigned threads)
{
    unsigned *numbers = (unsigned *)(uintptr_t)bench->from;
    struct barrier_row row = {.threads = threads, .rows = count / threads, .numbers = numbers};
    char text[64];
    row.sums = (unsigned *)(uintptr_t)bench->to;
    for (unsigned i = 0; i < count; i++)
        numbers[i] = i * 2654435761u;
    compare(bench, &row);
    snprintf(text, sizeof(text), "sums of %u, blocks of %u", count, threads);
    soft_measure(bench, text, sums, 3, &row, count);
}

void soft_barrier_rows(struct soft_bench *bench)
{
    static const unsigned blocks[] = {64, 256, 1024};
    const unsigned count = bench->most_bytes < 4u << 20 ? 1u << 14 : 1u << 20;
    for (unsigned i = 0; i < 3; i++)
        measure_barriers(bench, blocks[i]);
    for (unsigned i = 0; i < 2; i++)
        sum(bench, count, blocks[i]);
}
