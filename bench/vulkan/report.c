/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the results and the goals. Goals are not tested: on a busy machine a benchmark would fail
 * for reasons unrelated to the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/vulkan/vulkan.h"

static const struct vkb_row *find(const struct vkb_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].kind->key, key) == 0)
            return &table->rows[i];
    return NULL;
}

static bool is_import(const struct vkb_row *row)
{
    return row->kind->part == VKB_IMPORT;
}

/*
 * The threshold is half of the frames allowed in flight: if the thread is the bottleneck, hardly
 * any frame waits.
 */
bool vkb_row_was_full(const struct vkb_row *row, unsigned side)
{
    return row->waiting[side] >= row->in_flight / 2.0;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void print_fill(const struct vkb_row *row)
{
    const size_t kib = 1024, mib = kib * kib;
    if (row->fill % mib == 0)
        printf(" fills of %zu MiB;", row->fill / mib);
    else if (row->fill % kib == 0)
        printf(" fills of %zu KiB;", row->fill / kib);
    else
        printf(" fills of %zu bytes;", row->fill);
}

static void print_full(const struct vkb_row *row)
{
    if (vkb_has_fills(row->kind))
        print_fill(row);
    bool both = row->kind->frame[VKB_GRINTEROP];
    bool full = vkb_row_was_full(row, VKB_RAW) && (!both || vkb_row_was_full(row, VKB_GRINTEROP));
    printf(" %s (%.0f", full ? "full" : "NOT full", row->waiting[VKB_RAW]);
    if (both)
        printf(" and %.0f", row->waiting[VKB_GRINTEROP]);
    printf(" of %u frames waiting%s)\n", row->in_flight,
           full ? "" : ": the thread is the bottleneck");
}

static void print_room(const struct vkb_row *row)
{
    double added = (row->wall[VKB_GRINTEROP].median - row->wall[VKB_RAW].median) * 1e3;
    printf(" %+.0f ns per frame;", added);
    if (isnan(row->halves))
        printf(" room (a block is one frame)\n");
    else
        printf(" room (2nd half of a block x%.2f)\n", row->halves);
}

/*
 * The goal is looser for map and release alone, which are cheap beside grinterop's own checks and
 * bookkeeping.
 */
static const char *to_reach(const struct vkb_kind *kind)
{
    if (!kind->frame[VKB_GRINTEROP])
        return "";
    if (kind->part != VKB_ROOM_RELEASE && kind->part != VKB_ROOM_BOTH)
        return "<= 1.02";
    return kind->points < kind->resources ? "<= 1.1" : "<= 1.05";
}

static void print_head(enum vkb_part part, bool room)
{
    printf("\n%s; us per frame, median [quartiles]\n", vkb_part_titles[part]);
    printf("  %-15s %6s %6s %21s %21s %7s %21s %8s %17s  %s\n", "", "blocks", "frames", "raw",
           "grinterop", "ratio", "of block pairs", "to reach", "thread CPU, both",
           room ? "added (difference of medians); queues" : "queues");
}

static void print_row(const struct vkb_row *row)
{
    char a[128], b[128], c[32], d[128], e[32], f[32];
    printf("  %-15s %6u %6u %21s %21s %7s %21s %8s %8s %8s ", row->kind->label, row->blocks,
           row->frames, bench_spread_text(a, row->wall[VKB_RAW]),
           bench_spread_text(b, row->wall[VKB_GRINTEROP]),
           bench_number(c, row->wall[VKB_GRINTEROP].median / row->wall[VKB_RAW].median),
           bench_spread_text(d, row->ratio), to_reach(row->kind),
           bench_number(e, row->thread_cpu[VKB_RAW]),
           bench_number(f, row->thread_cpu[VKB_GRINTEROP]));
    if (row->kind->room_frames == 0)
        print_full(row);
    else if (is_import(row))
        printf(" %+.1f us per frame\n",
               row->wall[VKB_GRINTEROP].median - row->wall[VKB_RAW].median);
    else
        print_room(row);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void print_times(const struct vkb_table *table, const char *label, const char *many,
                        const char *batch)
{
    const struct vkb_row *calls = find(table, many), *one = find(table, batch);
    char a[32], b[32];
    if (calls && one)
        printf(
            "  %-36s %14s %14s\n", label,
            bench_number(a, calls->wall[VKB_RAW].median / one->wall[VKB_RAW].median),
            bench_number(b, calls->wall[VKB_GRINTEROP].median / one->wall[VKB_GRINTEROP].median));
}

static void print_batch_speedup(const struct vkb_table *table)
{
    if (!find(table, "release/batch") && !find(table, "both/batch") &&
        !find(table, "small/batch") && !find(table, "full/batch"))
        return;
    printf("\n%-38s %14s %14s\n", "Speed-up of a batch of 32", "raw", "grinterop");
    print_times(table, "release semaphore only, room", "release/singly", "release/batch");
    print_times(table, "both semaphores, room", "both/singly", "both/batch");
    print_times(table, "with small fills", "small/singly", "small/batch");
    print_times(table, "with large fills", "full/singly", "full/batch");
}

/* The kinds of round trips, after the bounds. */
static const char *const WAYS[] = {"cuda", "queue", "1", "2", "4", "8", "8x", "16x", "8b"};
enum { BOUNDS = 2, IN_ORDER = BOUNDS, PIPELINED, WAY_COUNT = sizeof(WAYS) / sizeof(WAYS[0]) };

static const struct vkb_row *find_way(const struct vkb_table *table, const char *queue, size_t way)
{
    char key[32];
    snprintf(key, sizeof(key), "%s/%s", queue, WAYS[way]);
    return find(table, key);
}

/* Prints the round trips of a queue, and the times of their parts. */
static void print_queue(const struct vkb_table *table, const char *queue)
{
    double us[WAY_COUNT];
    char text[32];
    for (size_t i = 0; i < WAY_COUNT; i++) {
        const struct vkb_row *row = find_way(table, queue, i);
        us[i] = row ? row->wall[i < BOUNDS ? VKB_RAW : VKB_GRINTEROP].median : NAN;
    }
    if (isnan(us[IN_ORDER]))
        return;
    printf("  %-10s %10s", queue, bench_number(text, us[0]));
    printf(" %10s", bench_number(text, us[1]));
    printf(" %10s", bench_number(text, us[0] + us[1]));
    printf(" %10s", bench_number(text, isnan(us[0] + us[1]) ? NAN : fmax(us[0], us[1])));
    for (size_t i = IN_ORDER; i < WAY_COUNT; i++)
        printf(" %10s", bench_number(text, us[i]));
    printf("\n");
}

/* The fastest round trip of one side; its row, or NULL. */
static const struct vkb_row *best_of(const struct vkb_table *table, const char *queue,
                                     unsigned side)
{
    const struct vkb_row *best = NULL;
    for (size_t i = PIPELINED; i < WAY_COUNT; i++) {
        const struct vkb_row *row = find_way(table, queue, i);
        if (row && (!best || row->wall[side].median < best->wall[side].median))
            best = row;
    }
    return best;
}

static void print_best(const struct vkb_table *table)
{
    const struct vkb_row *best[VKB_SIDES];
    char a[32], b[32];
    for (unsigned s = 0; s < VKB_SIDES; s++)
        best[s] = best_of(table, "transfer", s);
    if (!best[VKB_RAW])
        return;
    printf("  transfer queue round trip, pipelined, the best: raw %s (%s), grinterop %s (%s)   "
           "goal: <= 20\n",
           bench_number(a, best[VKB_RAW]->wall[VKB_RAW].median), best[VKB_RAW]->kind->label,
           bench_number(b, best[VKB_GRINTEROP]->wall[VKB_GRINTEROP].median),
           best[VKB_GRINTEROP]->kind->label);
}

static void print_round_trips(const struct vkb_table *table)
{
    static const char *const HEADS[] = {"queue",     "CUDA alone", "it alone",  "sum",
                                        "longer",    "in order",   "2 in turn", "4 in turn",
                                        "8 in turn", "8 a call",   "16 a call", "8 a batch"};
    if (find(table, "graphics/1") || find(table, "transfer/1") || find(table, "compute/1")) {
        printf("\nRound trips by grinterop compared with their bounds, us\n  %-10s", HEADS[0]);
        for (size_t i = 1; i < sizeof(HEADS) / sizeof(HEADS[0]); i++)
            printf(" %10s", HEADS[i]);
        printf("\n");
        print_queue(table, "graphics");
        print_queue(table, "compute");
        print_queue(table, "transfer");
    }
    print_best(table);
}

void vkb_print(const struct vkb_table *table)
{
    int part = -1;
    for (size_t i = 0; i < table->count; i++) {
        const struct vkb_row *row = &table->rows[i];
        if ((int)row->kind->part != part)
            print_head(row->kind->part, row->kind->room_frames != 0 && !is_import(row));
        part = (int)row->kind->part;
        print_row(row);
    }
    print_batch_speedup(table);
    print_round_trips(table);
    fflush(stdout);
}
