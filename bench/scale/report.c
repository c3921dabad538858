/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The table, with a line for each cell as soon as it is measured, and the JSON file, in which
 * missing numbers are null.
 */
#include "bench/scale/scale.h"

void scale_print_head(unsigned size)
{
    printf("\n%s each; microseconds each, KiB of device memory each\n", scale_size_text[size]);
    printf("%-8s %7s %10s %9s %9s %9s %9s %9s %9s\n", "kind", "number", "first", "create", "map",
           "release", "free", "KiB", "frame");
}

void scale_print(const char *kind, const struct scale_cell *cell)
{
    const double values[] = {cell->first_us, cell->create_us,     cell->map_us,  cell->release_us,
                             cell->free_us,  cell->memory / 1024, cell->frame_us};
    printf("%-8s %7u", kind, cell->count);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        char text[32];
        printf(i == 0 ? " %10s" : " %9s", bench_number(text, values[i]));
    }
    printf("%s%s\n", cell->why[0] ? "  " : "", cell->why);
    fflush(stdout);
}

static void write_cell(struct json *json, unsigned kind, unsigned size,
                       const struct scale_cell *cell)
{
    json_object(json, NULL);
    json_text(json, "kind", scale_kinds[kind]);
    json_whole(json, "bytes", (long long)scale_sizes[size]);
    json_whole(json, "wanted", cell->wanted);
    json_whole(json, "number", cell->count);
    json_number(json, "first_us", cell->first_us);
    json_number(json, "create_us", cell->create_us);
    json_number(json, "map_us", cell->map_us);
    json_number(json, "release_us", cell->release_us);
    json_number(json, "free_us", cell->free_us);
    json_number(json, "device_bytes_each", cell->memory);
    json_number(json, "ring_frame_us", cell->frame_us);
    json_text(json, "why", cell->why);
    json_end_object(json);
}

void scale_write_json(struct json *json, const struct scale_table *table)
{
    json_list(json, "cells");
    for (unsigned size = 0; size < SCALE_SIZES; size++)
        for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
            for (unsigned i = 0; i < SCALE_NUMBERS; i++)
                if (table->cells[kind][size][i].wanted)
                    write_cell(json, kind, size, &table->cells[kind][size][i]);
    json_end_list(json);
}
