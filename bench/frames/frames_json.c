/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. A row that was not measured has a
 * reason.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>

#include "bench/frames/frames.h"

static void write_result(struct json *json, int mesh, const struct frames_result *r)
{
    json_object(json, NULL);
    json_members(json, "mesh %d", mesh);
    json_truth(json, "measured", r->measured);
    if (r->measured) {
        json_members(json, "frames %u", r->frames);
        json_spread(json, "us_a_frame", r->wall);
        if (isfinite(r->times.median))
            json_spread(json, "times_in_order", r->times);
        json_members(json, "thread_cpu_us %g frames_waiting %g", r->cpu, r->waiting);
        json_truth(json, "queues_full", r->full);
        json_members(json, "wrong_pixels %d", r->wrong);
    }
    json_members(json, "gaps %s reason %s", r->gaps, r->reason);
    json_end_object(json);
}

static void write_rows(struct json *json, const struct frames_table *table)
{
    json_list(json, "rows");
    for (size_t i = 0; i < table->rows; i++) {
        const struct frames_kind *kind = table->kinds[i];
        json_object(json, NULL);
        json_members(json, "row %s label %s part %s", kind->key, kind->label,
                     frames_part_titles[kind->part]);
        json_list(json, "results");
        for (size_t m = 0; m < table->meshes; m++)
            write_result(json, table->mesh[m], &table->results[i][m]);
        json_end_list(json);
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_goals(struct json *json, const struct frames *frames,
                        const struct frames_table *table)
{
    static const char *const names[] = {[FRAMES_MIN_SPEEDUP] = "times_in_order_at_least",
                                        [FRAMES_MAX_OF_BOUND] = "times_bound_at_most",
                                        [FRAMES_MAX_OF_LONGER] = "times_draw_or_transfer_at_most"};
    size_t count;
    const struct frames_goal *goals = frames_goals(frames, &count);
    json_list(json, "goals");
    for (size_t i = 0; i < count; i++) {
        const struct frames_goal *goal = &goals[i];
        const double reached = frames_reached(table, goal);
        if (isnan(reached))
            continue;
        json_object(json, NULL);
        json_members(json, "row %s mesh %d", goal->key, goal->mesh);
        json_number(json, names[goal->of], goal->wanted);
        json_members(json, "reached %g", reached);
        json_truth(json, "good", frames_is_reached(goal, reached));
        json_end_object(json);
    }
    json_end_list(json);
}

static void write_devices(struct json *json, const struct frames *frames)
{
    char name[128] = "";
    CUdevice drawing = 0;
    if (frames->gl_ordinal == FRAMES_SOFTWARE_GL)
        snprintf(name, sizeof(name), "the CPU");
    else if (frames->cuda->DeviceGet(&drawing, frames->gl_ordinal) == CUDA_SUCCESS)
        frames->cuda->DeviceGetName(name, sizeof(name), drawing);
    json_members(json, "cuda_device %d gl_device %d gl_device_name %s", frames->on.ordinal,
                 frames->gl_ordinal, name);
}

void frames_write_json(struct json *json, const struct frames *frames, const char *python,
                       const struct frames_effort *effort, const struct frames_table *table)
{
    write_devices(json, frames);
    json_members(json, "python %s rounds %u block_seconds %g most_seconds %g target_pixels %d",
                 python, effort->rounds, effort->block_seconds, effort->most_seconds,
                 FRAMES_TARGET);
    write_rows(json, table);
    write_goals(json, frames, table);
}
