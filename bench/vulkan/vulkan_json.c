/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. A number that was not measured is
 * null: some rows have no grinterop side, for example.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include "bench/vulkan/vulkan.h"

static void write_side(struct json *json, const struct vkb_row *row, unsigned s)
{
    json_object(json, vkb_sides[s]);
    json_spread(json, "wall_us", row->of.wall[s]);
    json_members(json, "thread_cpu_us %g frames_waiting %g", row->of.thread_cpu[s],
                 row->of.waiting[s]);
    json_truth(json, "queues_full", row->kind->room_frames == 0 && vkb_row_was_full(row, s));
    json_end_object(json);
}

static void write_row(struct json *json, const struct vkb_row *row)
{
    json_object(json, NULL);
    json_members(json, "row %s blocks %u frames %u in_flight %u fill_bytes %zu", row->kind->key,
                 row->of.blocks, row->frames, row->in_flight, row->fill);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        write_side(json, row, s);
    json_members(json, "ratio_of_medians %g", bench_ratio_of_medians(&row->of));
    json_spread(json, "ratio_of_block_pairs", row->of.ratio);
    json_members(json, "second_half_to_first %g", row->of.halves);
    json_end_object(json);
}

static void write_effort(struct json *json, const struct vkb_effort *effort,
                         const struct vkb *bench)
{
    json_truth(json, "semaphores_through_host", bench->through_host);
    json_truth(json, "raw_barrier", bench->batch_mem_op);
    json_members(json, "blocks_at_most %u room_seconds %g full_blocks %u block_ms %g",
                 effort->blocks, effort->room_seconds, effort->full_blocks, effort->block_ms);
    json_members(json, "buffer_bytes %zu full_buffer_bytes %zu", bench->usual_bytes,
                 bench->full_bytes);
    json_object(json, "to_reach");
    json_members(json, "grinterop_to_raw %g transfer_round_trip_us %d", 1.02, 20);
    json_end_object(json);
}

void vkb_write_json(struct json *json, const struct vkb_effort *effort, const struct vkb *bench,
                    const struct vkb_table *table)
{
    write_effort(json, effort, bench);
    json_list(json, "rows");
    for (size_t i = 0; i < table->count; i++)
        write_row(json, &table->rows[i]);
    json_end_list(json);
}
