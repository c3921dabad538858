/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. A missing number, such as a batch with
 * an API that has no batches, is null.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>

#include "bench/map/map.h"

static void write_row(struct json *json, const struct bench_table *table,
                      const struct bench_row *row)
{
    const bool batch = row->kind->calls == 1 && row->kind->resources > 1;
    json_object(json, NULL);
    json_text(json, "row", row->kind->key);
    json_number(json, "blocks", row->blocks);
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        json_object(json, table->subjects[s]);
        json_spread(json, "wall_us", row->wall[s]);
        json_number(json, "thread_cpu_us", row->thread_cpu[s]);
        json_end_object(json);
    }
    json_number(json, "ratio_of_medians", row->wall[1].median / row->wall[0].median);
    json_spread(json, "ratio_of_block_pairs", row->ratio);
    json_number(json, batch ? "added_ns_a_batch" : "added_ns_a_pair", bench_added_ns(row));
    json_number(json, "second_half_to_first", row->halves);
    json_number(json, "frames_queued", row->queued);
    json_truth(json, "queues_full", !isnan(row->full) && row->full != 0);
    json_end_object(json);
}

static void write_table(struct json *json, const struct bench_table *table)
{
    json_object(json, NULL);
    json_text(json, "baseline", table->subjects[0]);
    json_text(json, "subject", table->subjects[1]);
    json_list(json, "rows");
    for (size_t i = 0; i < table->count; i++)
        write_row(json, table, &table->rows[i]);
    json_end_list(json);
    json_end_object(json);
}

void bench_write_json(struct json *json, const struct bench_effort *effort,
                      const struct bench_table *tables, size_t count)
{
    json_whole(json, "blocks_at_most", effort->blocks);
    json_number(json, "room_seconds", effort->room_seconds);
    json_whole(json, "full_blocks", effort->full_blocks);
    json_object(json, "to_reach");
    json_number(json, "grinterop_to_raw", 1.02);
    json_whole(json, "pairs_to_batch", 15);
    json_whole(json, "singly_to_batch", 15);
    json_end_object(json);
    json_list(json, "tables");
    for (size_t i = 0; i < count; i++)
        write_table(json, &tables[i]);
    json_end_list(json);
}
