/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs bench_map.py and takes over its rows, so that Python's numbers come from the same call on
 * the same machine. The script prints each row as one line: "row", its key, and numbers, by tabs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/map/map.h"

extern char **environ;

static const struct bench_kind *kind_of(const char *key)
{
    for (size_t i = 0; i < bench_kind_count; i++)
        if (strcmp(bench_kinds[i].key, key) == 0)
            return &bench_kinds[i];
    return NULL;
}

/* The numbers follow in the order that the script's print_for_bench_map() writes. */
static bool read_numbers(char *text, struct bench_row *row)
{
    double *fields[] = {
        &row->wall[0].q1, &row->wall[0].median, &row->wall[0].q3, &row->thread_cpu[0],
        &row->wall[1].q1, &row->wall[1].median, &row->wall[1].q3, &row->thread_cpu[1],
        &row->ratio.q1,   &row->ratio.median,   &row->ratio.q3,   &row->halves,
        &row->queued,     &row->full,           &row->blocks,
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        char *end;
        *fields[i] = strtod(text, &end);
        if (end == text)
            return false;
        text = end;
    }
    return true;
}

static bool take_row(char *line, struct bench_table *table)
{
    struct bench_row row = {0};
    char *rest = line;
    strsep(&rest, "\t");
    const char *key = strsep(&rest, "\t");
    row.kind = key ? kind_of(key) : NULL;
    if (!row.kind || !rest || !read_numbers(rest, &row) ||
        table->count == sizeof(table->rows) / sizeof(table->rows[0])) {
        fprintf(stderr, "bench_map: the script printed a row that is not understood: %s\n",
                key ? key : line);
        return false;
    }
    table->rows[table->count++] = row;
    return true;
}

static bool read_rows(FILE *output, struct bench_table *table)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, output) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "row\t", 4) == 0)
            good = take_row(line, table);
        else if (strncmp(line, "info\t", 5) == 0)
            printf("%s\n", line + 5);
    }
    free(line);
    return good;
}

/* Starts the script with its output in a pipe; returns the end to read, NULL on failure. */
static FILE *start(char *const argv[], pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        fprintf(stderr, "bench_map: cannot run %s: %s\n", argv[0], strerror(error));
        close(ends[0]);
        return NULL;
    }
    return fdopen(ends[0], "r");
}

bool bench_run_python(const char *python, const char *script, const struct bench *bench,
                      const struct bench_effort *effort, struct bench_table *table)
{
    char device[16], size[24], blocks[16], room_seconds[32], full_blocks[16], frames[16],
        fill_frames[16], fill_seconds[32];
    snprintf(device, sizeof(device), "%d", bench->on.ordinal);
    snprintf(size, sizeof(size), "%zu", bench->bytes);
    snprintf(blocks, sizeof(blocks), "%u", effort->blocks);
    snprintf(room_seconds, sizeof(room_seconds), "%g", effort->room_seconds);
    snprintf(full_blocks, sizeof(full_blocks), "%u", effort->full_blocks);
    snprintf(frames, sizeof(frames), "%u", effort->frames);
    snprintf(fill_frames, sizeof(fill_frames), "%u", effort->fill_frames);
    snprintf(fill_seconds, sizeof(fill_seconds), "%g", effort->fill_seconds);
    char *argv[] = {(char *)python,
                    (char *)script,
                    "--rows",
                    "--device",
                    device,
                    "--bytes",
                    size,
                    "--blocks",
                    blocks,
                    "--room-seconds",
                    room_seconds,
                    "--full-blocks",
                    full_blocks,
                    "--frames",
                    frames,
                    "--fill-frames",
                    fill_frames,
                    "--fill-seconds",
                    fill_seconds,
                    bench->changeable ? "--mutable" : NULL,
                    NULL};
    *table = (struct bench_table){.subjects = {"cuda.bindings", "cuda.core"}};
    fflush(stdout);
    pid_t child;
    FILE *output = start(argv, &child);
    if (!output)
        return false;
    bool good = read_rows(output, table);
    fclose(output);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "bench_map: %s %s failed\n", python, script);
        return false;
    }
    return good && table->count > 0;
}
