/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the results and the goals. Goals are not tested: on a busy machine a benchmark would fail
 * for reasons unrelated to the library.
 */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "bench/frames/frames.h"

/*
 * The number of pixels that may differ: the Vulkan and OpenGL compilers may place single points a
 * pixel apart.
 */
enum { MOST_WRONG_OF_VULKAN = FRAMES_TARGET * FRAMES_TARGET / 200 };

static const struct frames_goal on_one[] = {
    {"ring/1", 64, FRAMES_MIN_SPEEDUP, 2.5},      {"ring/16", 64, FRAMES_MIN_SPEEDUP, 7},
    {"group/64", 64, FRAMES_MIN_SPEEDUP, 11.5},   {"ring/16", 256, FRAMES_MIN_SPEEDUP, 4.3},
    {"group/64", 256, FRAMES_MIN_SPEEDUP, 5.7},   {"ring/1", 1024, FRAMES_MAX_OF_BOUND, 1.25},
    {"ring/2", 1024, FRAMES_MAX_OF_BOUND, 1.25},  {"ring/4", 1024, FRAMES_MAX_OF_BOUND, 1.25},
    {"ring/8", 1024, FRAMES_MAX_OF_BOUND, 1.25},  {"ring/16", 1024, FRAMES_MAX_OF_BOUND, 1.25},
    {"group/8", 1024, FRAMES_MAX_OF_BOUND, 1.06},
};

/*
 * The goals if CUDA and OpenGL use two devices. There are no context switches, so one frame in
 * flight is enough.
 */
static const struct frames_goal on_two[] = {
    {"ring/1", 64, FRAMES_MAX_OF_BOUND, 1.25},   {"ring/1", 256, FRAMES_MAX_OF_BOUND, 1.1},
    {"ring/1", 1024, FRAMES_MAX_OF_BOUND, 1.05}, {"ring/1", 64, FRAMES_MIN_SPEEDUP, 30},
    {"ring/1", 256, FRAMES_MIN_SPEEDUP, 17},     {"ring/1", 1024, FRAMES_MIN_SPEEDUP, 2.8},
    {"hand/1", 64, FRAMES_MAX_OF_BOUND, 1.25},   {"hand/1", 256, FRAMES_MAX_OF_BOUND, 1.1},
    {"hand/1", 1024, FRAMES_MAX_OF_BOUND, 1.05}, {"hand/1", 64, FRAMES_MIN_SPEEDUP, 30},
    {"hand/1", 256, FRAMES_MIN_SPEEDUP, 17},     {"hand/1", 1024, FRAMES_MIN_SPEEDUP, 2.8},
};

/* The goals if OpenGL runs on the CPU. */
static const struct frames_goal on_cpu[] = {
    {"copy/4", 64, FRAMES_MAX_OF_LONGER, 1.2},
    {"copy/4", 256, FRAMES_MAX_OF_LONGER, 1.2},
    {"copy/4", 1024, FRAMES_MAX_OF_LONGER, 1.2},
};

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

const struct frames_goal *frames_goals(const struct frames *frames, size_t *count)
{
    if (frames->gl_ordinal == FRAMES_SOFTWARE_GL) {
        *count = LENGTH(on_cpu);
        return on_cpu;
    }
    const bool across = frames->on.ordinal != frames->gl_ordinal;
    *count = across ? LENGTH(on_two) : LENGTH(on_one);
    return across ? on_two : on_one;
}

static const struct frames_result *find(const struct frames_table *table, const char *key, int mesh)
{
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++)
            if (table->mesh[m] == mesh && strcmp(table->kinds[i]->key, key) == 0 &&
                table->results[i][m].measured)
                return &table->results[i][m];
    return NULL;
}

/* The median of a row. NAN if the row was not measured. */
static double median_of(const struct frames_table *table, const char *key, int mesh)
{
    const struct frames_result *row = find(table, key, mesh);
    return row ? row->wall.median : NAN;
}

static double longer(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

double frames_reached(const struct frames_table *table, const struct frames_goal *goal)
{
    const struct frames_result *row = find(table, goal->key, goal->mesh);
    if (!row)
        return NAN;
    switch (goal->of) {
    case FRAMES_MIN_SPEEDUP:
        return row->times.median;
    case FRAMES_MAX_OF_BOUND:
        return row->wall.median / median_of(table, "bound", goal->mesh);
    default: /* NAN if either row was not measured */
        return row->wall.median / longer(median_of(table, "draw", goal->mesh),
                                         median_of(table, "transfer", goal->mesh));
    }
}

bool frames_is_reached(const struct frames_goal *goal, double reached)
{
    return goal->of == FRAMES_MIN_SPEEDUP ? reached >= goal->wanted : reached <= goal->wanted;
}

bool frames_is_wrong(const struct frames_kind *kind, const struct frames_result *result)
{
    return result->measured &&
           result->wrong > (kind->part == FRAMES_VULKAN ? MOST_WRONG_OF_VULKAN : 0);
}

bool frames_pictures_right(const struct frames_table *table)
{
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++)
            if (frames_is_wrong(table->kinds[i], &table->results[i][m]))
                return false;
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void print_head(const struct frames_table *table)
{
    printf("\nMicroseconds per frame, median of the blocks; x: speed-up over raw interop in order, "
           "from adjacent blocks;\nthen whether the queues were full (otherwise the thread is the "
           "bottleneck) and the last picture was right.\n\n  %-38s",
           "");
    for (size_t m = 0; m < table->meshes; m++) {
        char mesh[64];
        double bytes = (double)table->mesh[m] * table->mesh[m] * 16;
        snprintf(mesh, sizeof(mesh), "%d x %d (%g %s)", table->mesh[m], table->mesh[m],
                 bytes < 1 << 20 ? bytes / 1024 : bytes / (1 << 20),
                 bytes < 1 << 20 ? "KiB" : "MiB");
        printf(" %33s", mesh);
    }
    printf("\n");
}

static void print_cell(const struct frames_kind *kind, const struct frames_result *r)
{
    char time[32], times[32], marks[32];
    if (!r->measured) {
        printf(" %33s", "refused, see below");
        return;
    }
    snprintf(marks, sizeof(marks), "%s, %s", r->full ? "full" : "NOT full",
             r->wrong < 0               ? "unchecked"
             : frames_is_wrong(kind, r) ? "WRONG"
                                        : "right");
    printf(" %8s x%-6s %-16s", bench_number(time, r->wall.median),
           bench_number(times, r->times.median), marks);
}

static void print_rows(const struct frames_table *table)
{
    int part = -1;
    for (size_t i = 0; i < table->rows; i++) {
        const struct frames_kind *kind = table->kinds[i];
        if ((int)kind->part != part)
            printf("%s\n", frames_part_titles[kind->part]);
        part = (int)kind->part;
        printf("  %-38s", kind->label);
        for (size_t m = 0; m < table->meshes; m++)
            print_cell(kind, &table->results[i][m]);
        printf("\n");
    }
}

/* ---- Details --------------------------------------------------------------------------------- */

static void print_details(const struct frames_table *table)
{
    printf("\n%-24s %6s %7s %23s %23s %9s %8s %6s\n", "How it was measured", "mesh", "frames",
           "us per frame [quartiles]", "times [quartiles]", "CPU us", "waiting", "wrong");
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++) {
            const struct frames_result *r = &table->results[i][m];
            char time[96], times[96];
            if (!r->measured)
                continue;
            snprintf(time, sizeof(time), "%.1f [%.1f %.1f]", r->wall.median, r->wall.q1,
                     r->wall.q3);
            snprintf(times, sizeof(times), isnan(r->times.median) ? "-" : "%.2f [%.2f %.2f]",
                     r->times.median, r->times.q1, r->times.q3);
            printf("  %-22s %6d %7u %23s %23s %9.1f %8.0f %6d\n", table->kinds[i]->key,
                   table->mesh[m], r->frames, time, times, r->cpu, r->waiting, r->wrong);
        }
    printf("  CPU: of the thread that enqueues; waiting: frames that the GPU had not finished when "
           "the last was enqueued;\n  wrong: pixels of the last picture that differ, -1 if it is "
           "not the CUDA mesh.\n");
}

static void print_gaps(const struct frames_table *table)
{
    bool any = false;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++) {
            if (table->results[i][m].gaps[0] == '\0')
                continue;
            if (!any)
                printf("\nWhen OpenGL drew (GPU timers)\n");
            any = true;
            printf("  %-22s %6d  %s\n", table->kinds[i]->key, table->mesh[m],
                   table->results[i][m].gaps);
        }
}

/*
 * Prints why rows were not measured. Successive rows and meshes share a line if the reason is the
 * same.
 */
static void print_reasons(const struct frames_table *table)
{
    const char *last = NULL;
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++) {
            const struct frames_result *r = &table->results[i][m];
            if (r->reason[0] == '\0')
                continue;
            if (!last)
                printf("\nRefused or failed");
            if (!last || strcmp(r->reason, last) != 0)
                printf("\n  %s:\n   ", r->reason);
            printf(" %s at %d", table->kinds[i]->key, table->mesh[m]);
            last = r->reason;
        }
    if (last)
        printf("\n");
}

void frames_print(const struct frames_table *table)
{
    print_head(table);
    print_rows(table);
    print_details(table);
    print_gaps(table);
    print_reasons(table);
    fflush(stdout);
}

void frames_print_goals(const struct frames_table *table, const struct frames *frames)
{
    static const char *const words[] = {[FRAMES_MIN_SPEEDUP] = "times raw interop in order",
                                        [FRAMES_MAX_OF_BOUND] = "times the bound's time",
                                        [FRAMES_MAX_OF_LONGER] = "times draw's or transfer's"};
    bool any = false;
    size_t count;
    const struct frames_goal *goals = frames_goals(frames, &count);
    for (size_t i = 0; i < count; i++) {
        const struct frames_goal *goal = &goals[i];
        double reached = frames_reached(table, goal);
        if (isnan(reached))
            continue;
        if (!any)
            printf("\nGoals%s\n",
                   gr_cuda_is_software() ? " (for a GPU, not for the software driver)" : "");
        any = true;
        printf("  %-10s at %4d: %5.2f %-26s, wanted %s %-5g %s\n", goal->key, goal->mesh, reached,
               words[goal->of], goal->of == FRAMES_MIN_SPEEDUP ? ">=" : "<=", goal->wanted,
               frames_is_reached(goal, reached) ? "reached" : "NOT reached");
    }
    fflush(stdout);
}
