/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Runs bench_map.py and reads its rows, so that the Python numbers are from the same run on the
 * same machine. The script prints each row as one line: "row", the key of the row, and numbers,
 * separated by tabs.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "bench/map/map.h"

static const struct bench_kind *kind_of(const char *key)
{
    for (size_t i = 0; i < bench_kind_count; i++)
        if (strcmp(bench_kinds[i].key, key) == 0)
            return &bench_kinds[i];
    return NULL;
}

/* Reads the numbers in the order of values() in the script. */
static bool read_numbers(char *text, struct bench_row *row)
{
    struct bench_comparison *of = &row->of;
    double blocks, *fields[] = {
                       &of->wall[0].q1, &of->wall[0].median, &of->wall[0].q3, &of->thread_cpu[0],
                       &of->wall[1].q1, &of->wall[1].median, &of->wall[1].q3, &of->thread_cpu[1],
                       &of->ratio.q1,   &of->ratio.median,   &of->ratio.q3,   &of->halves,
                       &row->queued,    &row->full,          &blocks,
                   };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        char *end;
        *fields[i] = strtod(text, &end);
        if (end == text)
            return false;
        text = end;
    }
    of->blocks = (unsigned)blocks;
    return true;
}

static bool take_row(char *line, struct bench_table *table)
{
    struct bench_row row = {0};
    char *rest = line;
    const char *key = strsep(&rest, "\t");
    row.kind = kind_of(key);
    if (!row.kind || !rest || !read_numbers(rest, &row) ||
        table->count == sizeof(table->rows) / sizeof(table->rows[0]))
        return false;
    table->rows[table->count++] = row;
    return true;
}

static bool parse_line(char *line, void *table)
{
    if (strncmp(line, "row\t", 4) == 0)
        return take_row(line + 4, table);
    if (strncmp(line, "info\t", 5) == 0)
        printf("%s\n", line + 5);
    return true;
}

bool bench_run_python(const char *python, const char *script, const struct bench *bench,
                      const struct bench_effort *effort, struct bench_table *table)
{
    const char *const arguments[] = {python, script, NULL};
    char more[256];
    snprintf(more, sizeof(more),
             "--device %d --bytes %zu --blocks %u --room-seconds %g --full-blocks %u --frames %u "
             "--fill-frames %u --fill-seconds %g",
             bench->on.ordinal, bench->bytes, effort->blocks, effort->room_seconds,
             effort->full_blocks, effort->frames, effort->fill_frames, effort->fill_seconds);
    *table = (struct bench_table){.subjects = {"cuda.bindings", "cuda.core"}};
    return bench_run_script(arguments, more, parse_line, table) && table->count > 0;
}
