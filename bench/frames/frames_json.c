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
    json_whole(json, "mesh", mesh);
    json_truth(json, "measured", r->measured);
    if (r->measured) {
        json_whole(json, "frames", r->frames);
        json_spread(json, "us_a_frame", r->wall);
        if (isfinite(r->times.median))
            json_spread(json, "times_in_order", r->times);
        json_number(json, "thread_cpu_us", r->cpu);
        json_number(json, "frames_waiting", r->waiting);
        json_truth(json, "queues_full", r->full);
        json_whole(json, "wrong_pixels", r->wrong);
    }
    json_text(json, "gaps", r->gaps);
    json_text(json, "reason", r->reason);
    json_end_object(json);
}

static void write_rows(struct json *json, const struct frames_table *table)
{
    json_list(json, "rows");
    for (size_t i = 0; i < table->rows; i++) {
        json_object(json, NULL);
        json_text(json, "row", table->kinds[i]->key);
        json_text(json, "label", table->kinds[i]->label);
        json_text(json, "part", frames_part_titles[table->kinds[i]->part]);
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
        json_text(json, "row", goal->key);
        json_whole(json, "mesh", goal->mesh);
        json_number(json, names[goal->of], goal->wanted);
        json_number(json, "reached", reached);
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
    json_whole(json, "cuda_device", frames->on.ordinal);
    json_whole(json, "gl_device", frames->gl_ordinal);
    json_text(json, "gl_device_name", name);
}

void frames_write_json(struct json *json, const struct frames *frames, const char *python,
                       const struct frames_effort *effort, const struct frames_table *table)
{
    write_devices(json, frames);
    json_text(json, "python", python);
    json_whole(json, "rounds", effort->rounds);
    json_number(json, "block_seconds", effort->block_seconds);
    json_number(json, "most_seconds", effort->most_seconds);
    json_whole(json, "target_pixels", FRAMES_TARGET);
    write_rows(json, table);
    write_goals(json, frames, table);
}
