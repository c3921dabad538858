/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A number that does not exist (a
 * batch through an API without batches, say) is null.
 */
#define _GNU_SOURCE
#include <math.h>

#include "tests/bench/map/map.h"

static void write_row(FILE *file, const struct bench_table *table, const struct bench_row *row)
{
    fputs("{", file);
    bench_json_text(file, "row", row->kind->key, ", ");
    fprintf(file, "\"blocks\": %.0f", row->blocks);
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        fprintf(file, ", \"%s\": {", table->subjects[s]);
        bench_json_spread(file, "wall_us", row->wall[s], ", ");
        bench_json_number(file, "thread_cpu_us", row->thread_cpu[s], "}");
    }
    fputs(", ", file);
    bench_json_number(file, "ratio_of_medians", row->wall[1].median / row->wall[0].median, ", ");
    bench_json_spread(file, "ratio_of_block_pairs", row->ratio, ", ");
    bench_json_number(file,
                      row->kind->calls == 1 && row->kind->resources > 1 ? "added_ns_a_batch"
                                                                        : "added_ns_a_pair",
                      bench_added_ns(row), ", ");
    bench_json_number(file, "second_half_to_first", row->halves, ", ");
    bench_json_number(file, "frames_queued", row->queued, ", ");
    bench_json_truth(file, "queues_full", !isnan(row->full) && row->full != 0, "}");
}

static void write_table(FILE *file, const struct bench_table *table)
{
    fprintf(file, "{\"baseline\": \"%s\", \"subject\": \"%s\", \"rows\": [\n", table->subjects[0],
            table->subjects[1]);
    for (size_t i = 0; i < table->count; i++) {
        fputs("    ", file);
        write_row(file, table, &table->rows[i]);
        fputs(i + 1 < table->count ? ",\n" : "\n", file);
    }
    fputs("  ]}", file);
}

static void write_facts(FILE *file, const struct bench_facts *facts,
                        const struct bench_effort *effort, const struct bench *bench)
{
    fputs("  ", file);
    bench_json_machine(file, &facts->machine, ", ");
    bench_json_text(file, "opengl", facts->opengl, ",\n  ");
    fprintf(file, "\"blocks_at_most\": %u, \"room_seconds\": %g, \"full_blocks\": %u,\n",
            effort->blocks, effort->room_seconds, effort->full_blocks);
    fprintf(file, "  \"buffer_bytes\": %zu, ", bench->bytes);
    bench_json_truth(file, "immutable_storage", !bench->changeable, ",\n");
    fputs(
        "  \"to_reach\": {\"grinterop_to_raw\": 1.02, \"pairs_to_batch\": 15, \"singly_to_batch\": "
        "15},\n",
        file);
}

bool bench_write_json(const char *path, const struct bench_facts *facts,
                      const struct bench_effort *effort, const struct bench *bench,
                      const struct bench_table *tables, size_t count)
{
    FILE *file = bench_create(path);
    if (!file)
        return false;
    fputs("{\n", file);
    write_facts(file, facts, effort, bench);
    fputs("  \"tables\": [", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", file);
        write_table(file, &tables[i]);
    }
    fputs("]\n}\n", file);
    return bench_finish(file, path);
}
