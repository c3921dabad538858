/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the results and the goals. Goals are not tested: on a busy machine a benchmark would fail
 * for reasons unrelated to the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/map/map.h"

static const struct bench_row *find(const struct bench_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].kind->key, key) == 0)
            return &table->rows[i];
    return NULL;
}

double bench_added_ns(const struct bench_row *row)
{
    return (row->wall[1].median - row->wall[0].median) * 1e3 / row->kind->calls;
}

static void print_added(const struct bench_row *row)
{
    bool batch = row->kind->calls == 1 && row->kind->resources > 1;
    if (row->kind->part == BENCH_ROOM && !isnan(row->wall[1].median))
        printf(" %+.0f ns per %s;", bench_added_ns(row), batch ? "batch" : "pair");
}

static void print_notes(const struct bench_row *row)
{
    print_added(row);
    if (!bench_is_full(row->kind) && isnan(row->halves))
        printf(" room (a block is one frame)\n");
    else if (!bench_is_full(row->kind))
        printf(" room (2nd half of a block x%.2f)\n", row->halves);
    else if (row->full != 0)
        printf(" full (%.0f frames waiting)\n", row->queued);
    else
        printf(" NOT full (enqueueing is the bottleneck)\n");
}

static void print_head(const struct bench_table *table, enum bench_part part)
{
    printf("\n%s; us per frame, median [quartiles]\n", bench_part_titles[part]);
    printf("  %-15s %6s %21s %21s %7s %21s %8s %17s  %s\n", "", "blocks", table->subjects[0],
           table->subjects[1], "ratio", "of block pairs", "to reach", "thread CPU, both",
           part == BENCH_ROOM ? "added (difference of medians); queues" : "queues");
}

static void print_row(const struct bench_row *row, bool acceptance)
{
    char a[128], b[128], c[32], d[128], e[32], f[32];
    printf("  %-15s %6.0f %21s %21s %7s %21s %8s %8s %8s ", row->kind->label, row->blocks,
           bench_spread_text(a, row->wall[0]), bench_spread_text(b, row->wall[1]),
           bench_number(c, row->wall[1].median / row->wall[0].median),
           bench_spread_text(d, row->ratio), acceptance ? "<= 1.02" : "",
           bench_number(e, row->thread_cpu[0]), bench_number(f, row->thread_cpu[1]));
    print_notes(row);
}

static void print_times(const struct bench_table *table, const char *label, const char *many,
                        const char *batch, bool acceptance)
{
    const struct bench_row *calls = find(table, many), *one = find(table, batch);
    if (!calls || !one)
        return;
    printf("    %-34s", label);
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        char text[32];
        printf(" %14s", bench_number(text, calls->wall[s].median / one->wall[s].median));
    }
    printf("%s\n", acceptance ? "   goal: >= 15" : "");
}

static void print_batch_speedup(const struct bench_table *table, bool acceptance)
{
    const char *room = "room in the queues", *full = "queues full, map and release",
               *work = "queues full, with fills and copies";
    printf("\n%-38s %14s %14s\n", "Speed-up of a batch of 32", table->subjects[0],
           table->subjects[1]);
    printf("  32 pairs / batch: each resource is mapped and released before the next\n");
    print_times(table, room, "room/pairs", "room/batch", acceptance);
    print_times(table, full, "map/pairs", "map/batch", acceptance);
    print_times(table, work, "frame/pairs", "frame/batch", false);
    printf("  32 singly / batch: all 32 are mapped with one call each, then all 32 are released\n");
    print_times(table, room, "room/singly", "room/batch", acceptance);
    print_times(table, full, "map/singly", "map/batch", acceptance);
    print_times(table, work, "frame/singly", "frame/batch", false);
}

void bench_print(const struct bench_table *table, bool acceptance)
{
    int part = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct bench_row *row = &table->rows[i];
        if ((int)row->kind->part != part)
            print_head(table, row->kind->part);
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
        const struct bench_row *here = &native->rows[i];
        const struct bench_row *there = find(python, here->kind->key);
        char a[32], b[32], c[32], d[32], e[32];
        if (!there)
            continue;
        printf("  %-14s %14s %14s %14s %14s %18s\n", here->kind->key,
               bench_number(a, here->wall[0].median), bench_number(b, here->wall[1].median),
               bench_number(c, there->wall[0].median), bench_number(d, there->wall[1].median),
               bench_number(e, there->wall[1].median / here->wall[1].median));
    }
}
