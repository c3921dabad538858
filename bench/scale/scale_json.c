/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what was measured as JSON; a number that does not exist is null. */
#include "bench/bench_json.h"

#include "bench/scale/scale.h"

static void write_cell(struct json *json, unsigned kind, unsigned size,
                       const struct scale_cell *cell)
{
    json_line(json, 4);
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

bool scale_write_json(const char *path, const struct bench_machine *machine,
                      const struct scale *scale, const struct scale_table *table)
{
    struct json json;
    if (!json_create(&json, path))
        return false;
    json_line(&json, 2);
    json_machine(&json, machine);
    json_text(&json, "opengl", scale->opengl);
    json_line(&json, 2);
    json_list(&json, "cells");
    for (unsigned size = 0; size < SCALE_SIZES; size++)
        for (unsigned kind = 0; kind < SCALE_KINDS; kind++)
            for (unsigned i = 0; i < SCALE_NUMBERS; i++)
                if (table->cells[kind][size][i].wanted)
                    write_cell(&json, kind, size, &table->cells[kind][size][i]);
    json_line(&json, 2);
    json_end_list(&json);
    return json_finish(&json);
}
