/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what was measured as JSON, for scripts that compare runs. A number that does not exist (of
 * libgr in a row of one side, say) is null.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bench_vulkan.h"

static const char *const SIDES[VKB_SIDES] = {"raw", "libgr"};

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

static void write_side(FILE *file, const struct vkb_row *row, unsigned s)
{
    fprintf(file, ", \"%s\": {", SIDES[s]);
    spread(file, "wall_us", row->wall[s]);
    fputs(", ", file);
    number(file, "thread_cpu_us", row->thread_cpu[s]);
    fputs(", ", file);
    number(file, "frames_waiting", row->waiting[s]);
    fprintf(file, ", \"queues_full\": %s}",
            row->kind->room_frames == 0 && vkb_row_was_full(row, s) ? "true" : "false");
}

static void write_row(FILE *file, const struct vkb_row *row)
{
    fputs("    {", file);
    text(file, "row", row->kind->key);
    fprintf(file, ", \"blocks\": %u, \"frames\": %u, \"in_flight\": %u, \"fill_bytes\": %zu",
            row->blocks, row->frames, row->in_flight, row->fill);
    for (unsigned s = 0; s < VKB_SIDES; s++)
        write_side(file, row, s);
    fputs(", ", file);
    number(file, "ratio_of_medians", row->wall[VKB_LIBGR].median / row->wall[VKB_RAW].median);
    fputs(", ", file);
    spread(file, "ratio_of_block_pairs", row->ratio);
    fputs(", ", file);
    number(file, "second_half_to_first", row->halves);
    fputs("}", file);
}

static void write_facts(FILE *file, const struct vkb_facts *facts, const struct vkb_effort *effort,
                        const struct vkb *bench)
{
    fputs("  ", file);
    text(file, "date", facts->date);
    fputs(", ", file);
    text(file, "driver", facts->driver);
    fprintf(file, ", \"software_driver\": %s,\n  ", facts->software ? "true" : "false");
    text(file, "device", facts->device);
    fputs(", ", file);
    text(file, "vulkan", facts->vulkan);
    fputs(",\n  ", file);
    text(file, "sharing", facts->sharing);
    fprintf(file, ", \"semaphores_through_host\": %s,\n", bench->through_host ? "true" : "false");
    fprintf(file,
            "  \"blocks_at_most\": %u, \"room_seconds\": %g, \"full_blocks\": %u, \"block_ms\": "
            "%g,\n  \"buffer_bytes\": %zu, \"full_buffer_bytes\": %zu,\n",
            effort->blocks, effort->room_seconds, effort->full_blocks, effort->block_ms,
            bench->usual_bytes, bench->full_bytes);
    fputs("  \"to_reach\": {\"libgr_to_raw\": 1.02, \"transfer_round_trip_us\": 20},\n", file);
}

bool vkb_write_json(const char *path, const struct vkb_facts *facts,
                    const struct vkb_effort *effort, const struct vkb *bench,
                    const struct vkb_table *table)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "bench_vulkan: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fputs("{\n", file);
    write_facts(file, facts, effort, bench);
    fputs("  \"rows\": [\n", file);
    for (size_t i = 0; i < table->count; i++) {
        write_row(file, &table->rows[i]);
        fputs(i + 1 < table->count ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "bench_vulkan: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}
