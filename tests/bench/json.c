/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of JSON's objects. A number that does not exist is null, since JSON has no NaN.
 */
#define _GNU_SOURCE
#include <math.h>

#include "tests/bench/bench.h"

void bench_json_text(FILE *file, const char *name, const char *value, const char *end)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, file);
    }
    fprintf(file, "\"%s", end);
}

void bench_json_number(FILE *file, const char *name, double value, const char *end)
{
    if (isfinite(value))
        fprintf(file, "\"%s\": %.6g%s", name, value, end);
    else
        fprintf(file, "\"%s\": null%s", name, end);
}

void bench_json_truth(FILE *file, const char *name, bool value, const char *end)
{
    fprintf(file, "\"%s\": %s%s", name, value ? "true" : "false", end);
}

void bench_json_spread(FILE *file, const char *name, struct bench_spread value, const char *end)
{
    fprintf(file, "\"%s\": {", name);
    bench_json_number(file, "median", value.median, ", ");
    bench_json_number(file, "q1", value.q1, ", ");
    bench_json_number(file, "q3", value.q3, "}");
    fputs(end, file);
}

void bench_json_machine(FILE *file, const struct bench_machine *machine, const char *end)
{
    bench_json_text(file, "date", machine->date, ", ");
    bench_json_text(file, "driver", machine->driver, ", ");
    bench_json_truth(file, "software_driver", machine->software, ",\n  ");
    bench_json_text(file, "device", machine->device, end);
}
