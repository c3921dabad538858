/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. Numbers that are not finite become
 * null, since JSON has no NaN. Each row of the results is a line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "bench/bench.h"

static FILE *file;
static const char *before, *between; /* what precedes the next member, and those after it */

static void begin(const char *open, const char *first, const char *further)
{
    fputs(open, file);
    before = first;
    between = further;
}

static void put_name(const char *name)
{
    fprintf(file, "%s\"%s\": ", before, name);
    before = between;
}

static void put_text(const char *name, const char *value)
{
    put_name(name);
    fputc('"', file);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, file);
    }
    fputc('"', file);
}

static void put_bool(const char *name, bool value)
{
    put_name(name);
    fputs(value ? "true" : "false", file);
}

static void put_number(const char *name, double value)
{
    put_name(name);
    if (isfinite(value))
        fprintf(file, "%.6g", value);
    else
        fputs("null", file);
}

static void put_value(const char *name, struct bench_spread value)
{
    if (isnan(value.q1)) {
        put_number(name, value.median);
        return;
    }
    put_name(name);
    begin("{", "", ", ");
    put_number("median", value.median);
    put_number("q1", value.q1);
    put_number("q3", value.q3);
    fputc('}', file);
}

static void put_result(const struct bench_result *result)
{
    begin("{", "", ", ");
    put_text("row", result->name);
    put_text("size", result->size);
    put_bool("measured", result->measured);
    put_bool("wrong", result->wrong);
    for (size_t i = 0; i < result->count; i++)
        put_value(result->values[i].name, result->values[i].of);
    put_text("what", result->what);
    put_text("part", result->part);
    put_text("note", result->note);
    fputc('}', file);
}

static void put_machine(const struct bench_machine *machine)
{
    begin("{", "\n  ", ",\n  ");
    put_text("date", machine->date);
    put_text("driver", machine->driver);
    put_bool("software_driver", machine->software);
    put_text("device", machine->device);
    for (size_t i = 0; i < machine->fact_count; i++)
        if (machine->facts[i].key)
            put_text(machine->facts[i].key, machine->facts[i].text);
}

void bench_write_json(const char *path, const struct bench_machine *machine)
{
    file = fopen(path, "w");
    if (!file)
        bench_fail("cannot write %s: %s", path, strerror(errno));
    put_machine(machine);
    fputs(",\n  \"rows\": [", file);
    for (size_t i = 0; i < bench_result_count; i++) {
        fputs(i ? ",\n    " : "\n    ", file);
        put_result(&bench_results[i]);
    }
    fputs("\n  ]\n}\n", file);
    /* A full disk may show only when the file is closed. */
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        bench_fail("cannot write %s: %s", path, strerror(errno));
}
