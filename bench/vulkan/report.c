/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the results and the goals. Goals are not tested: on a busy machine a benchmark would fail
 * for reasons unrelated to the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/vulkan/vulkan.h"

static const struct vkb_row *find_row(const struct vkb_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].kind->key, key) == 0)
            return &table->rows[i];
    return NULL;
}

static const struct bench_comparison *find(const struct vkb_table *table, const char *key)
{
    const struct vkb_row *row = find_row(table, key);
    return row ? &row->of : NULL;
}

const char *const vkb_sides[VKB_SIDES] = {"raw", "grinterop"};

static bool is_import(const struct vkb_row *row)
{
    return row->kind->part == VKB_IMPORT;
}

/*
 * Whether the queues were full. The threshold is half of the frames allowed in flight: if the
 * thread is the bottleneck, hardly any frame waits.
 */
bool vkb_row_was_full(const struct vkb_row *row, unsigned side)
{
    return row->of.waiting[side] >= row->in_flight / 2.0;
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
    printf(" %s (%.0f", full ? "full" : "NOT full", row->of.waiting[VKB_RAW]);
    if (both)
        printf(" and %.0f", row->of.waiting[VKB_GRINTEROP]);
    printf(" of %u frames waiting%s)\n", row->in_flight,
           full ? "" : ": the thread is the bottleneck");
}

static void print_room(const struct vkb_row *row)
{
    double added = (row->of.wall[VKB_GRINTEROP].median - row->of.wall[VKB_RAW].median) * 1e3;
    printf(" %+.0f ns per frame;", added);
    if (isnan(row->of.halves))
        printf(" room (a block is one frame)\n");
    else
        printf(" room (2nd half of a block x%.2f)\n", row->of.halves);
}

/*
 * The goal of a row. The goal is looser for rows with only maps and releases, since their driver
 * calls cost little compared with grinterop's own checks and bookkeeping.
 */
static const char *to_reach(const struct vkb_kind *kind)
{
    if (!kind->frame[VKB_GRINTEROP])
        return "";
    if (kind->part != VKB_ROOM_RELEASE && kind->part != VKB_ROOM_BOTH)
        return "<= 1.02";
    return kind->points < kind->resources ? "<= 1.1" : "<= 1.05";
}

static void print_row(const struct vkb_row *row)
{
    printf("  %-15s %6u %6u", row->kind->label, row->of.blocks, row->frames);
    bench_print_comparison(&row->of, to_reach(row->kind));
    if (row->kind->room_frames == 0)
        print_full(row);
    else if (is_import(row))
        printf(" %+.1f us per frame\n",
               row->of.wall[VKB_GRINTEROP].median - row->of.wall[VKB_RAW].median);
    else
        print_room(row);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

static void print_batch_speedup(const struct vkb_table *table)
{
    if (!find(table, "release/batch") && !find(table, "both/batch") &&
        !find(table, "small/batch") && !find(table, "full/batch"))
        return;
    printf("\n%-38s %14s %14s\n", "Speed-up of a batch of 32", "raw", "grinterop");
    bench_print_speedup("release semaphore only, room", find(table, "release/singly"),
                        find(table, "release/batch"), "");
    bench_print_speedup("both semaphores, room", find(table, "both/singly"),
                        find(table, "both/batch"), "");
    bench_print_speedup("with small fills", find(table, "small/singly"), find(table, "small/batch"),
                        "");
    bench_print_speedup("with large fills", find(table, "full/singly"), find(table, "full/batch"),
                        "");
}

/*
 * The rows to print: first CUDA alone and the queue alone, whose times bound a round trip, then the
 * kinds of round trips.
 */
static const char *const WAYS[] = {"cuda", "queue", "1", "2", "4", "8", "8x", "16x", "8b"};
enum { BOUNDS = 2, IN_ORDER = BOUNDS, PIPELINED, WAY_COUNT = sizeof(WAYS) / sizeof(WAYS[0]) };

static const struct vkb_row *find_way(const struct vkb_table *table, const char *queue, size_t way)
{
    char key[32];
    snprintf(key, sizeof(key), "%s/%s", queue, WAYS[way]);
    return find_row(table, key);
}

/* Prints the round trips of a queue, and the times of their parts. */
static void print_queue(const struct vkb_table *table, const char *queue)
{
    double us[WAY_COUNT];
    char text[32];
    for (size_t i = 0; i < WAY_COUNT; i++) {
        const struct vkb_row *row = find_way(table, queue, i);
        us[i] = row ? row->of.wall[i < BOUNDS ? VKB_RAW : VKB_GRINTEROP].median : NAN;
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

/* The fastest round trip of one side. Returns its row, or NULL. */
static const struct vkb_row *best_of(const struct vkb_table *table, const char *queue,
                                     unsigned side)
{
    const struct vkb_row *best = NULL;
    for (size_t i = PIPELINED; i < WAY_COUNT; i++) {
        const struct vkb_row *row = find_way(table, queue, i);
        if (row && (!best || row->of.wall[side].median < best->of.wall[side].median))
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
           bench_number(a, best[VKB_RAW]->of.wall[VKB_RAW].median), best[VKB_RAW]->kind->label,
           bench_number(b, best[VKB_GRINTEROP]->of.wall[VKB_GRINTEROP].median),
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
            bench_print_comparison_head(vkb_part_titles[row->kind->part], "blocks frames",
                                        vkb_sides, row->kind->room_frames != 0 && !is_import(row));
        part = (int)row->kind->part;
        print_row(row);
    }
    print_batch_speedup(table);
    print_round_trips(table);
    fflush(stdout);
}
