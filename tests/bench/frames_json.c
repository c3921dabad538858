/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A row that was not measured has its reason.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <string.h>

#include "frames.h"

static void text(FILE *file, const char *name, const char *value, const char *end)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, file);
    }
    fprintf(file, "\"%s", end);
}

static void spread(FILE *file, const char *name, struct bench_spread value)
{
    fprintf(file, "\"%s\": {\"median\": %.6g, \"q1\": %.6g, \"q3\": %.6g}, ", name, value.median,
            value.q1, value.q3);
}

static void write_result(FILE *file, int mesh, const struct frames_result *r)
{
    fprintf(file, "{\"mesh\": %d, \"measured\": %s, ", mesh, r->measured ? "true" : "false");
    if (r->measured) {
        fprintf(file, "\"frames\": %u, ", r->frames);
        spread(file, "us_a_frame", r->wall);
        if (isfinite(r->times.median))
            spread(file, "times_in_order", r->times);
        fprintf(file, "\"thread_cpu_us\": %.6g, \"frames_waiting\": %.6g, \"queues_full\": %s, ",
                r->cpu, r->waiting, r->full ? "true" : "false");
        fprintf(file, "\"wrong_pixels\": %d, ", r->wrong);
    }
    text(file, "gaps", r->gaps, ", ");
    text(file, "reason", r->reason, "}");
}

static void write_rows(FILE *file, const struct frames_table *table)
{
    fputs("  \"rows\": [\n", file);
    for (size_t i = 0; i < table->rows; i++) {
        fputs("    {", file);
        text(file, "row", table->kinds[i]->key, ", ");
        text(file, "label", table->kinds[i]->label, ", ");
        text(file, "part", frames_part_titles[table->kinds[i]->part], ", \"results\": [\n");
        for (size_t m = 0; m < table->meshes; m++) {
            fputs("      ", file);
            write_result(file, table->mesh[m], &table->results[i][m]);
            fputs(m + 1 < table->meshes ? ",\n" : "]}", file);
        }
        fputs(i + 1 < table->rows ? ",\n" : "\n  ],\n", file);
    }
}

static void write_goals(FILE *file, const struct frames_table *table)
{
    const char *before = "\n    ";
    fputs("  \"goals\": [", file);
    for (size_t i = 0; i < frames_goal_count; i++) {
        const struct frames_goal *goal = &frames_goals[i];
        double reached = frames_reached(table, goal);
        if (isnan(reached))
            continue;
        fprintf(file, "%s{", before);
        before = ",\n    ";
        text(file, "row", goal->key, ", ");
        fprintf(file, "\"mesh\": %d, \"%s\": %g, \"reached\": %.6g, \"good\": %s}", goal->mesh,
                goal->of_bound ? "times_bound_at_most" : "times_in_order_at_least", goal->wanted,
                reached, frames_is_reached(goal, reached) ? "true" : "false");
    }
    fputs("]\n", file);
}

static void write_facts(FILE *file, const struct frames_facts *facts,
                        const struct frames_effort *effort)
{
    fputs("  ", file);
    text(file, "date", facts->date, ", ");
    text(file, "driver", facts->driver, ", ");
    fprintf(file, "\"software_driver\": %s,\n  ", facts->software ? "true" : "false");
    text(file, "device", facts->device, ",\n  ");
    text(file, "opengl", facts->opengl, ",\n  ");
    text(file, "vulkan", facts->vulkan, ",\n  ");
    text(file, "shared", facts->transport, ",\n  ");
    text(file, "python", facts->python, ",\n");
    fprintf(
        file,
        "  \"rounds\": %u, \"block_seconds\": %g, \"most_seconds\": %g, \"target_pixels\": %d,\n",
        effort->rounds, effort->block_seconds, effort->most_seconds, FRAMES_TARGET);
}

bool frames_write_json(const char *path, const struct frames_facts *facts,
                       const struct frames_effort *effort, const struct frames_table *table)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "bench_frames: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fputs("{\n", file);
    write_facts(file, facts, effort);
    write_rows(file, table);
    write_goals(file, table);
    fputs("}\n", file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "bench_frames: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}
