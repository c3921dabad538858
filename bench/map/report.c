/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the results and the goals. Goals are not tested: on a busy machine a benchmark would fail
 * for reasons unrelated to the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/map/map.h"

static const struct bench_comparison *find(const struct bench_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].kind->key, key) == 0)
            return &table->rows[i].of;
    return NULL;
}

double bench_added_ns(const struct bench_row *row)
{
    return (row->of.wall[1].median - row->of.wall[0].median) * 1e3 / row->kind->calls;
}

static void print_added(const struct bench_row *row)
{
    bool batch = row->kind->calls == 1 && row->kind->resources > 1;
    if (row->kind->part == BENCH_ROOM && !isnan(row->of.wall[1].median))
        printf(" %+.0f ns per %s;", bench_added_ns(row), batch ? "batch" : "pair");
}

static void print_notes(const struct bench_row *row)
{
    print_added(row);
    if (!bench_is_full(row->kind) && isnan(row->of.halves))
        printf(" room (a block is one frame)\n");
    else if (!bench_is_full(row->kind))
        printf(" room (2nd half of a block x%.2f)\n", row->of.halves);
    else if (row->full != 0)
        printf(" full (%.0f frames waiting)\n", row->queued);
    else
        printf(" NOT full (enqueueing is the bottleneck)\n");
}

static void print_row(const struct bench_row *row, bool acceptance)
{
    printf("  %-15s %6u", row->kind->label, row->of.blocks);
    bench_print_comparison(&row->of, acceptance ? "<= 1.02" : "");
    print_notes(row);
}

/* Prints the speed-up of a batch over 32 calls, "pairs" or "singly", for each part of the table. */
static void print_speedups(const struct bench_table *table, const char *calls, bool acceptance)
{
    static const struct {
        const char *part, *text;
    } parts[] = {{"room", "room in the queues"},
                 {"map", "queues full, map and release"},
                 {"frame", "queues full, with fills and copies"}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char many[32], batch[32];
        snprintf(many, sizeof(many), "%s/%s", parts[i].part, calls);
        snprintf(batch, sizeof(batch), "%s/batch", parts[i].part);
        bench_print_speedup(parts[i].text, find(table, many), find(table, batch),
                            acceptance && i < 2 ? "   goal: >= 15" : "");
    }
}

static void print_batch_speedup(const struct bench_table *table, bool acceptance)
{
    printf("\n%-38s %14s %14s\n", "Speed-up of a batch of 32", table->subjects[0],
           table->subjects[1]);
    printf("  32 pairs / batch: each resource is mapped and released before the next\n");
    print_speedups(table, "pairs", acceptance);
    printf("  32 singly / batch: all 32 are mapped with one call each, then all 32 are released\n");
    print_speedups(table, "singly", acceptance);
}

void bench_print(const struct bench_table *table, bool acceptance)
{
    int part = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct bench_row *row = &table->rows[i];
        if ((int)row->kind->part != part)
            bench_print_comparison_head(bench_part_titles[row->kind->part], "blocks",
                                        table->subjects, row->kind->part == BENCH_ROOM);
        part = (int)row->kind->part;
        print_row(row, acceptance);
    }
    print_batch_speedup(table, acceptance);
    fflush(stdout);
}

void bench_print_beside(const struct bench_table *native, const struct bench_table *python)
{
    printf("\n%-16s %14s %14s %14s %14s %18s\n", "All, us per frame", native->subjects[0],
           native->subjects[1], python->subjects[0], python->subjects[1], "cuda.core / grinterop");
    for (size_t i = 0; i < native->count; i++) {
        const char *key = native->rows[i].kind->key;
        const struct bench_comparison *here = &native->rows[i].of, *there = find(python, key);
        char a[32], b[32], c[32], d[32], e[32];
        if (!there)
            continue;
        printf("  %-14s %14s %14s %14s %14s %18s\n", key, bench_number(a, here->wall[0].median),
               bench_number(b, here->wall[1].median), bench_number(c, there->wall[0].median),
               bench_number(d, there->wall[1].median),
               bench_number(e, there->wall[1].median / here->wall[1].median));
    }
}
