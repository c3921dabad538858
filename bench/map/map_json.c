/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. A number that was not measured is
 * null: cuda.core has no batches, for example.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>

#include "bench/map/map.h"

static void write_row(struct json *json, const struct bench_table *table,
                      const struct bench_row *row)
{
    const bool batch = row->kind->calls == 1 && row->kind->resources > 1;
    const struct bench_comparison *of = &row->of;
    json_object(json, NULL);
    json_members(json, "row %s blocks %u", row->kind->key, of->blocks);
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        json_object(json, table->subjects[s]);
        json_spread(json, "wall_us", of->wall[s]);
        json_members(json, "thread_cpu_us %g", of->thread_cpu[s]);
        json_end_object(json);
    }
    json_members(json, "ratio_of_medians %g", bench_ratio_of_medians(of));
    json_spread(json, "ratio_of_block_pairs", of->ratio);
    json_number(json, batch ? "added_ns_a_batch" : "added_ns_a_pair", bench_added_ns(row));
    json_members(json, "second_half_to_first %g frames_queued %g", of->halves, row->queued);
    json_truth(json, "queues_full", !isnan(row->full) && row->full != 0);
    json_end_object(json);
}

static void write_table(struct json *json, const struct bench_table *table)
{
    json_object(json, NULL);
    json_members(json, "baseline %s subject %s", table->subjects[0], table->subjects[1]);
    json_list(json, "rows");
    for (size_t i = 0; i < table->count; i++)
        write_row(json, table, &table->rows[i]);
    json_end_list(json);
    json_end_object(json);
}

void bench_write_json(struct json *json, const struct bench_effort *effort,
                      const struct bench_table *tables, size_t count)
{
    json_members(json, "blocks_at_most %u room_seconds %g full_blocks %u", effort->blocks,
                 effort->room_seconds, effort->full_blocks);
    json_object(json, "to_reach");
    json_members(json, "grinterop_to_raw %g pairs_to_batch %d singly_to_batch %d", 1.02, 15, 15);
    json_end_object(json);
    json_list(json, "tables");
    for (size_t i = 0; i < count; i++)
        write_table(json, &tables[i]);
    json_end_list(json);
}
