/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.core's row: runs bench_frames.py in a process of its own, before this one opens any device,
 * and takes over what it prints.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/frames/frames.h"

static struct frames_result *row_of(struct frames_table *table, int mesh)
{
    for (size_t i = 0; i < table->rows; i++)
        for (size_t m = 0; m < table->meshes; m++)
            if (table->kinds[i] == &frames_core && table->mesh[m] == mesh)
                return &table->results[i][m];
    return NULL;
}

/* As the script's report() writes it. */
static bool take_row(const char *line, struct frames_table *table)
{
    struct frames_result r = {.measured = true};
    int mesh, full;
    if (sscanf(line, "row %d %u %lf %lf %lf %lf %lf %lf %lf %lf %d %d", &mesh, &r.frames,
               &r.wall.q1, &r.wall.median, &r.wall.q3, &r.times.q1, &r.times.median, &r.times.q3,
               &r.cpu, &r.waiting, &full, &r.wrong) != 12)
        return false;
    struct frames_result *result = row_of(table, mesh);
    r.full = full != 0;
    if (result)
        *result = r;
    return result;
}

static bool read_rows(FILE *output, struct frames_table *table, struct frames_facts *facts)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, output) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "info ", 5) == 0)
            snprintf(facts->python, sizeof(facts->python), "%s", line + 5);
        else
            good = take_row(line, table);
        if (!good)
            fprintf(stderr, "bench_frames: the script printed what is not understood: %s\n", line);
    }
    free(line);
    return good;
}

/*
 * The kernel goes by a file; the shell gets texts and names as variables, so that it takes none
 * apart.
 */
static bool run(const char *script, int ordinal, const struct frames_effort *effort,
                struct frames_table *table, struct frames_facts *facts)
{
    char meshes[64] = "", command[512];
    for (size_t m = 0; m < table->meshes; m++)
        snprintf(meshes + strlen(meshes), sizeof(meshes) - strlen(meshes), "%s%d", m ? "," : "",
                 table->mesh[m]);
    snprintf(command, sizeof(command),
             "exec \"$BENCH_PYTHON\" \"$BENCH_SCRIPT\" --rows --kernel \"$BENCH_KERNEL\" "
             "--vertex \"$BENCH_VERTEX\" --fragment \"$BENCH_FRAGMENT\" --device %d "
             "--meshes %s --rounds %u --frames %u --block-seconds %g --most-seconds %g "
             "--base-seconds %g --most-frames %u",
             ordinal, meshes, effort->rounds, effort->frames, effort->block_seconds,
             effort->most_seconds, effort->block_seconds / 2, effort->most_frames);
    setenv("BENCH_SCRIPT", script, 1);
    setenv("BENCH_VERTEX", mesh_vert.text, 1);
    setenv("BENCH_FRAGMENT", mesh_frag.text, 1);
    FILE *output = popen(command, "r");
    bool good = output && read_rows(output, table, facts);
    return output && pclose(output) == 0 && good;
}

static bool write_kernel(int file)
{
    size_t size;
    const unsigned char *kernel = frames_kernel(&size);
    while (size > 0) {
        ssize_t written = write(file, kernel, size);
        if (written <= 0)
            return false;
        kernel += written;
        size -= (size_t)written;
    }
    return true;
}

bool frames_python(const char *python, const char *script, int ordinal,
                   const struct frames_effort *effort, struct frames_table *table,
                   struct frames_facts *facts)
{
    char path[] = "/tmp/bench_frames.XXXXXX";
    int file = mkstemp(path);
    if (file < 0)
        return false;
    setenv("BENCH_PYTHON", python, 1);
    setenv("BENCH_KERNEL", path, 1);
    bool good = write_kernel(file) && run(script, ordinal, effort, table, facts);
    close(file);
    unlink(path);
    return good;
}
