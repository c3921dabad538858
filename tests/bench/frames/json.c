/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A row that was not measured has
 * its reason.
 */
#define _GNU_SOURCE
#include <math.h>

#include "tests/bench/frames/frames.h"

static void write_result(FILE *file, int mesh, const struct frames_result *r)
{
    fprintf(file, "{\"mesh\": %d, ", mesh);
    bench_json_truth(file, "measured", r->measured, ", ");
    if (r->measured) {
        fprintf(file, "\"frames\": %u, ", r->frames);
        bench_json_spread(file, "us_a_frame", r->wall, ", ");
        if (isfinite(r->times.median))
            bench_json_spread(file, "times_in_order", r->times, ", ");
        bench_json_number(file, "thread_cpu_us", r->cpu, ", ");
        bench_json_number(file, "frames_waiting", r->waiting, ", ");
        bench_json_truth(file, "queues_full", r->full, ", ");
        fprintf(file, "\"wrong_pixels\": %d, ", r->wrong);
    }
    bench_json_text(file, "gaps", r->gaps, ", ");
    bench_json_text(file, "reason", r->reason, "}");
}

static void write_rows(FILE *file, const struct frames_table *table)
{
    fputs("  \"rows\": [\n", file);
    for (size_t i = 0; i < table->rows; i++) {
        fputs("    {", file);
        bench_json_text(file, "row", table->kinds[i]->key, ", ");
        bench_json_text(file, "label", table->kinds[i]->label, ", ");
        bench_json_text(file, "part", frames_part_titles[table->kinds[i]->part],
                        ", \"results\": [\n");
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
        bench_json_text(file, "row", goal->key, ", ");
        fprintf(file, "\"mesh\": %d, \"%s\": %g, ", goal->mesh,
                goal->of_bound ? "times_bound_at_most" : "times_in_order_at_least", goal->wanted);
        bench_json_number(file, "reached", reached, ", ");
        bench_json_truth(file, "good", frames_is_reached(goal, reached), "}");
    }
    fputs("]\n", file);
}

static void write_facts(FILE *file, const struct frames_facts *facts,
                        const struct frames_effort *effort)
{
    fputs("  ", file);
    bench_json_machine(file, &facts->machine, ",\n  ");
    bench_json_text(file, "opengl", facts->opengl, ",\n  ");
    bench_json_text(file, "vulkan", facts->vulkan, ",\n  ");
    bench_json_text(file, "shared", facts->transport, ",\n  ");
    bench_json_text(file, "python", facts->python, ",\n");
    fprintf(
        file,
        "  \"rounds\": %u, \"block_seconds\": %g, \"most_seconds\": %g, \"target_pixels\": %d,\n",
        effort->rounds, effort->block_seconds, effort->most_seconds, FRAMES_TARGET);
}

bool frames_write_json(const char *path, const struct frames_facts *facts,
                       const struct frames_effort *effort, const struct frames_table *table)
{
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fputs("{\n", file);
    write_facts(file, facts, effort);
    write_rows(file, table);
    write_goals(file, table);
    fputs("}\n", file);
    return bench_finish(file, path);
}
