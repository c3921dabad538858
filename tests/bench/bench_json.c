/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A number that does not exist (a
 * batch through an API without batches, say) is null.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench.h"

static void text(FILE *file, const char *name, const char *value)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, file);
    }
    fputc('"', file);
}

static void number(FILE *file, const char *name, double value)
{
    if (isfinite(value))
        fprintf(file, "\"%s\": %.6g", name, value);
    else
        fprintf(file, "\"%s\": null", name);
}

static void spread(FILE *file, const char *name, struct bench_spread value)
{
    fprintf(file, "\"%s\": {", name);
    number(file, "median", value.median);
    fputs(", ", file);
    number(file, "q1", value.q1);
    fputs(", ", file);
    number(file, "q3", value.q3);
    fputs("}", file);
}

static void write_row(FILE *file, const struct bench_table *table, const struct bench_row *row)
{
    fputs("{", file);
    text(file, "row", row->kind->key);
    fprintf(file, ", \"blocks\": %.0f", row->blocks);
    for (unsigned s = 0; s < BENCH_SUBJECTS; s++) {
        fprintf(file, ", \"%s\": {", table->subjects[s]);
        spread(file, "wall_us", row->wall[s]);
        fputs(", ", file);
        number(file, "thread_cpu_us", row->thread_cpu[s]);
        fputs("}", file);
    }
    fputs(", ", file);
    number(file, "ratio_of_medians", row->wall[1].median / row->wall[0].median);
    fputs(", ", file);
    spread(file, "ratio_of_block_pairs", row->ratio);
    fputs(", ", file);
    number(file,
           row->kind->calls == 1 && row->kind->resources > 1 ? "added_ns_a_batch"
                                                             : "added_ns_a_pair",
           bench_added_ns(row));
    fputs(", ", file);
    number(file, "second_half_to_first", row->halves);
    fputs(", ", file);
    number(file, "frames_queued", row->queued);
    fprintf(file, ", \"queues_full\": %s}",
            isnan(row->full) ? "false"
            : row->full != 0 ? "true"
                             : "false");
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
    text(file, "date", facts->date);
    fputs(", ", file);
    text(file, "driver", facts->driver);
    fprintf(file, ", \"software_driver\": %s,\n  ", facts->software ? "true" : "false");
    text(file, "device", facts->device);
    fputs(", ", file);
    text(file, "opengl", facts->opengl);
    fprintf(file, ",\n  \"blocks_at_most\": %u, \"room_seconds\": %g, \"full_blocks\": %u,\n",
            effort->blocks, effort->room_seconds, effort->full_blocks);
    fprintf(file, "  \"buffer_bytes\": %zu, \"immutable_storage\": %s,\n", bench->bytes,
            bench->changeable ? "false" : "true");
    fputs("  \"to_reach\": {\"libgr_to_raw\": 1.02, \"pairs_to_batch\": 15, \"singly_to_batch\": "
          "15},\n",
          file);
}

bool bench_write_json(const char *path, const struct bench_facts *facts,
                      const struct bench_effort *effort, const struct bench *bench,
                      const struct bench_table *tables, size_t count)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "bench_map: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fputs("{\n", file);
    write_facts(file, facts, effort, bench);
    fputs("  \"tables\": [", file);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", file);
        write_table(file, &tables[i]);
    }
    fputs("]\n}\n", file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "bench_map: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}
