/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes the results as JSON, for scripts that compare runs. Numbers that are not finite become
 * null, since JSON has no NaN. Each row of the results is a line.
 */
#define _GNU_SOURCE
#include "bench/bench.h"

static void put_text(FILE *file, const char *name, const char *value)
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

static void put_number(FILE *file, const char *name, double value)
{
    fprintf(file, "\"%s\": ", name);
    if (isfinite(value))
        fprintf(file, "%.6g", value);
    else
        fputs("null", file);
}

static void put_value(FILE *file, const char *name, struct bench_spread value)
{
    if (isnan(value.q1)) {
        put_number(file, name, value.median);
        return;
    }
    fprintf(file, "\"%s\": {", name);
    put_number(file, "median", value.median);
    fputs(", ", file);
    put_number(file, "q1", value.q1);
    fputs(", ", file);
    put_number(file, "q3", value.q3);
    fputc('}', file);
}

static void put_result(FILE *file, const struct bench_result *result)
{
    fputs("{", file);
    put_text(file, "row", result->name);
    fputs(", ", file);
    put_text(file, "size", result->size);
    fprintf(file, ", \"measured\": %s, \"wrong\": %s", result->measured ? "true" : "false",
            result->wrong ? "true" : "false");
    for (size_t i = 0; i < result->count; i++) {
        fputs(", ", file);
        put_value(file, result->values[i].name, result->values[i].of);
    }
    fputs(", ", file);
    put_text(file, "what", result->what);
    fputs(", ", file);
    put_text(file, "part", result->part);
    fputs(", ", file);
    put_text(file, "note", result->note);
    fputs("}", file);
}

struct writing {
    FILE *file;
    bool follows; /* whether the list already has a goal */
};

static void put_goal(const struct bench_goal *goal, const struct bench_result *result,
                     double reached, bool good, void *to)
{
    struct writing *writing = to;
    fprintf(writing->file, "%s\n    {", writing->follows ? "," : "");
    writing->follows = true;
    put_text(writing->file, "row", result->name);
    fputs(", ", writing->file);
    put_text(writing->file, "size", result->size);
    fputs(", ", writing->file);
    put_text(writing->file, "value", goal->value);
    fputs(", ", writing->file);
    put_text(writing->file, "of", goal->of ? goal->of : "");
    fputs(", ", writing->file);
    put_number(writing->file, goal->at_least ? "at_least" : "at_most", goal->wanted);
    fputs(", ", writing->file);
    put_number(writing->file, "reached", reached);
    fprintf(writing->file, ", \"good\": %s}", good ? "true" : "false");
}

static void put_machine(FILE *file, const struct bench_machine *machine)
{
    fputs("{\n  ", file);
    put_text(file, "date", machine->date);
    fputs(",\n  ", file);
    put_text(file, "driver", machine->driver);
    fprintf(file, ",\n  \"software_driver\": %s,\n  ", machine->software ? "true" : "false");
    put_text(file, "device", machine->device);
    for (size_t i = 0; i < machine->fact_count; i++)
        if (machine->facts[i].key) {
            fputs(",\n  ", file);
            put_text(file, machine->facts[i].key, machine->facts[i].text);
        }
}

bool bench_write_json(const char *path, const struct bench_machine *machine)
{
    FILE *file = bench_create(path);
    if (!file)
        return false;
    put_machine(file, machine);
    fputs(",\n  \"rows\": [", file);
    for (size_t i = 0; i < bench_result_count; i++) {
        fputs(i ? ",\n    " : "\n    ", file);
        put_result(file, &bench_results[i]);
    }
    fputs("\n  ],\n  \"goals\": [", file);
    bench_each_goal(put_goal, &(struct writing){.file = file});
    fputs("\n  ]\n}\n", file);
    return bench_finish(file, path);
}
