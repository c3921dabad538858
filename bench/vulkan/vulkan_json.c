/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. A missing number, such as grinterop in
 * a row with one side, is null.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include "bench/vulkan/vulkan.h"

static const char *const SIDES[VKB_SIDES] = {"raw", "grinterop"};

static void write_side(struct json *json, const struct vkb_row *row, unsigned s)
{
    json_object(json, SIDES[s]);
    json_spread(json, "wall_us", row->wall[s]);
    json_number(json, "thread_cpu_us", row->thread_cpu[s]);
    json_number(json, "frames_waiting", row->waiting[s]);
    json_truth(json, "queues_full", row->kind->room_frames == 0 && vkb_row_was_full(row, s));
    json_end_object(json);
}

static void write_row(struct json *json, const struct vkb_row *row)
{
    json_object(json, NULL);
    json_text(json, "row", row->kind->key);
    json_whole(json, "blocks", row->blocks);
    json_whole(json, "frames", row->frames);
    json_whole(json, "in_flight", row->in_flight);
    json_whole(json, "fill_bytes", (long long)row->fill);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        write_side(json, row, s);
    json_number(json, "ratio_of_medians",
                row->wall[VKB_GRINTEROP].median / row->wall[VKB_RAW].median);
    json_spread(json, "ratio_of_block_pairs", row->ratio);
    json_number(json, "second_half_to_first", row->halves);
    json_end_object(json);
}

static void write_effort(struct json *json, const struct vkb_effort *effort,
                         const struct vkb *bench)
{
    json_truth(json, "semaphores_through_host", bench->through_host);
    json_truth(json, "raw_barrier", bench->batch_mem_op);
    json_whole(json, "blocks_at_most", effort->blocks);
    json_number(json, "room_seconds", effort->room_seconds);
    json_whole(json, "full_blocks", effort->full_blocks);
    json_number(json, "block_ms", effort->block_ms);
    json_whole(json, "buffer_bytes", (long long)bench->usual_bytes);
    json_whole(json, "full_buffer_bytes", (long long)bench->full_bytes);
    json_object(json, "to_reach");
    json_number(json, "grinterop_to_raw", 1.02);
    json_whole(json, "transfer_round_trip_us", 20);
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
