/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A row that was not measured has
 * its reason.
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
    json_line(json, 2);
    json_list(json, "rows");
    for (size_t i = 0; i < table->rows; i++) {
        json_line(json, 4);
        json_object(json, NULL);
        json_text(json, "row", table->kinds[i]->key);
        json_text(json, "label", table->kinds[i]->label);
        json_text(json, "part", frames_part_titles[table->kinds[i]->part]);
        json_list(json, "results");
        for (size_t m = 0; m < table->meshes; m++) {
            json_line(json, 6);
            write_result(json, table->mesh[m], &table->results[i][m]);
        }
        json_end_list(json);
        json_end_object(json);
    }
    json_line(json, 2);
    json_end_list(json);
}

static void write_goals(struct json *json, const struct frames_facts *facts,
                        const struct frames_table *table)
{
    static const char *const names[] = {[FRAMES_IN_ORDERS] = "times_in_order_at_least",
                                        [FRAMES_BOUNDS] = "times_bound_at_most",
                                        [FRAMES_LONGERS] = "times_draw_or_transfer_at_most"};
    size_t count;
    const struct frames_goal *goals = frames_goals(facts, &count);
    json_line(json, 2);
    json_list(json, "goals");
    for (size_t i = 0; i < count; i++) {
        const struct frames_goal *goal = &goals[i];
        const double reached = frames_reached(table, goal);
        if (isnan(reached))
            continue;
        json_line(json, 4);
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

static void write_facts(struct json *json, const struct frames_facts *facts,
                        const struct frames_effort *effort)
{
    const char *const texts[][2] = {{"opengl", facts->opengl},
                                    {"vulkan", facts->vulkan},
                                    {"shared", facts->transport},
                                    {"python", facts->python}};
    json_line(json, 2);
    json_machine(json, &facts->machine);
    json_line(json, 2);
    json_whole(json, "cuda_device", facts->ordinal);
    json_whole(json, "gl_device", facts->gl_ordinal);
    json_text(json, "gl_device_name", facts->gl_device);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        json_line(json, 2);
        json_text(json, texts[i][0], texts[i][1]);
    }
    json_line(json, 2);
    json_whole(json, "rounds", effort->rounds);
    json_number(json, "block_seconds", effort->block_seconds);
    json_number(json, "most_seconds", effort->most_seconds);
    json_whole(json, "target_pixels", FRAMES_TARGET);
}

bool frames_write_json(const char *path, const struct frames_facts *facts,
                       const struct frames_effort *effort, const struct frames_table *table)
{
    struct json json;
    if (!json_create(&json, path))
        return false;
    write_facts(&json, facts, effort);
    write_rows(&json, table);
    write_goals(&json, facts, table);
    return json_finish(&json);
}
