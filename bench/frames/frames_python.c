/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The cuda.core row: runs bench_frames.py in a separate process, before this process opens any
 * device, and reads its output.
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

struct reading {
    struct frames_table *table;
    char *python; /* the versions of the interpreter and its packages */
};

/* Parses a line written by report() in the script. */
static bool parse_line(char *line, void *of)
{
    struct reading *reading = of;
    struct frames_result r = {.measured = true};
    int mesh, full;
    if (strncmp(line, "info ", 5) == 0) {
        snprintf(reading->python, FRAMES_PYTHON, "%s", line + 5);
        return true;
    }
    if (sscanf(line, "row %d %u %lf %lf %lf %lf %lf %lf %lf %lf %d %d", &mesh, &r.frames,
               &r.wall.q1, &r.wall.median, &r.wall.q3, &r.times.q1, &r.times.median, &r.times.q3,
               &r.cpu, &r.waiting, &full, &r.wrong) != 12)
        return false;
    struct frames_result *result = row_of(reading->table, mesh);
    r.full = full != 0;
    if (result)
        *result = r;
    return result;
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

static bool run(const char *const arguments[], int ordinal, const struct frames_effort *effort,
                struct reading *reading)
{
    const struct frames_table *table = reading->table;
    char meshes[64] = "", more[256];
    for (size_t m = 0; m < table->meshes; m++)
        snprintf(meshes + strlen(meshes), sizeof(meshes) - strlen(meshes), "%s%d", m ? "," : "",
                 table->mesh[m]);
    snprintf(more, sizeof(more),
             "--device %d --meshes %s --rounds %u --frames %u --block-seconds %g "
             "--most-seconds %g --base-seconds %g --most-frames %u",
             ordinal, meshes, effort->rounds, effort->frames, effort->block_seconds,
             effort->most_seconds, effort->block_seconds / 2, effort->most_frames);
    return bench_run_script(arguments, more, parse_line, reading);
}

bool frames_python(const char *python, const char *script, int ordinal,
                   const struct frames_effort *effort, struct frames_table *table,
                   char version[FRAMES_PYTHON])
{
    char path[] = "/tmp/bench_frames.XXXXXX";
    const char *const arguments[] = {python,         script,       "--kernel",     path, "--vertex",
                                     mesh_vert.text, "--fragment", mesh_frag.text, NULL};
    int file = mkstemp(path);
    if (file < 0)
        return false;
    bool good =
        write_kernel(file) && run(arguments, ordinal, effort, &(struct reading){table, version});
    close(file);
    unlink(path);
    return good;
}
