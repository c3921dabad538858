/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A number that does not exist (of
 * grinterop in a row of one side, say) is null.
 */
#define _GNU_SOURCE
#include "tests/bench/vulkan/vulkan.h"

static const char *const SIDES[VKB_SIDES] = {"raw", "grinterop"};

static void write_side(FILE *file, const struct vkb_row *row, unsigned s)
{
    fprintf(file, ", \"%s\": {", SIDES[s]);
    bench_json_spread(file, "wall_us", row->wall[s], ", ");
    bench_json_number(file, "thread_cpu_us", row->thread_cpu[s], ", ");
    bench_json_number(file, "frames_waiting", row->waiting[s], ", ");
    bench_json_truth(file, "queues_full", row->kind->room_frames == 0 && vkb_row_was_full(row, s),
                     "}");
}

static void write_row(FILE *file, const struct vkb_row *row)
{
    fputs("    {", file);
    bench_json_text(file, "row", row->kind->key, ", ");
    fprintf(file, "\"blocks\": %u, \"frames\": %u, \"in_flight\": %u, \"fill_bytes\": %zu",
            row->blocks, row->frames, row->in_flight, row->fill);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        write_side(file, row, s);
    fputs(", ", file);
    bench_json_number(file, "ratio_of_medians",
                      row->wall[VKB_GRINTEROP].median / row->wall[VKB_RAW].median, ", ");
    bench_json_spread(file, "ratio_of_block_pairs", row->ratio, ", ");
    bench_json_number(file, "second_half_to_first", row->halves, "}");
}

static void write_facts(FILE *file, const struct vkb_facts *facts, const struct vkb_effort *effort,
                        const struct vkb *bench)
{
    fputs("  ", file);
    bench_json_machine(file, &facts->machine, ", ");
    bench_json_text(file, "vulkan", facts->vulkan, ",\n  ");
    bench_json_text(file, "sharing", facts->sharing, ", ");
    bench_json_truth(file, "semaphores_through_host", bench->through_host, ",\n  ");
    bench_json_truth(file, "raw_barrier", bench->batch_mem_op, ",\n");
    fprintf(file,
            "  \"blocks_at_most\": %u, \"room_seconds\": %g, \"full_blocks\": %u, \"block_ms\": "
            "%g,\n  \"buffer_bytes\": %zu, \"full_buffer_bytes\": %zu,\n",
            effort->blocks, effort->room_seconds, effort->full_blocks, effort->block_ms,
            bench->usual_bytes, bench->full_bytes);
    fputs("  \"to_reach\": {\"grinterop_to_raw\": 1.02, \"transfer_round_trip_us\": 20},\n", file);
}

bool vkb_write_json(const char *path, const struct vkb_facts *facts,
                    const struct vkb_effort *effort, const struct vkb *bench,
                    const struct vkb_table *table)
{
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fputs("{\n", file);
    write_facts(file, facts, effort, bench);
    fputs("  \"rows\": [\n", file);
    for (size_t i = 0; i < table->count; i++) {
        write_row(file, &table->rows[i]);
        fputs(i + 1 < table->count ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
    return bench_finish(file, path);
}
