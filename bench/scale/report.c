/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prints the table, with a line for each cell as soon as it is measured, and writes the JSON file,
 * in which missing numbers are null.
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
    json_members(json, "kind %s bytes %zu wanted %u number %u", scale_kinds[kind],
                 scale_sizes[size], cell->wanted, cell->count);
    json_members(json, "first_us %g create_us %g map_us %g release_us %g free_us %g",
                 cell->first_us, cell->create_us, cell->map_us, cell->release_us, cell->free_us);
    json_members(json, "device_bytes_each %g ring_frame_us %g why %s", cell->memory, cell->frame_us,
                 cell->why);
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
