/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON. A number that does not exist is null, since JSON has no NaN.
 */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>

static void begin_line(struct json *json)
{
    if (json->indent >= 0)
        fprintf(json->file, "\n%*s", json->indent, "");
    json->indent = -1;
}

/* What stands before a value. */
static void begin(struct json *json, const char *name)
{
    if (json->follows)
        fputs(json->indent < 0 ? ", " : ",", json->file);
    begin_line(json);
    if (name)
        fprintf(json->file, "\"%s\": ", name);
    json->follows = true;
}

static void open(struct json *json, const char *name, char bracket)
{
    begin(json, name);
    fputc(bracket, json->file);
    json->follows = false;
}

static void end(struct json *json, char bracket)
{
    begin_line(json);
    fputc(bracket, json->file);
    json->follows = true;
}

bool json_create(struct json *json, const char *path)
{
    *json = (struct json){.file = bench_create(path), .path = path, .indent = -1};
    if (json->file)
        json_object(json, NULL);
    return json->file;
}

bool json_finish(struct json *json)
{
    json_line(json, 0);
    json_end_object(json);
    fputc('\n', json->file);
    return bench_finish(json->file, json->path);
}

void json_line(struct json *json, int indent)
{
    json->indent = indent;
}

void json_object(struct json *json, const char *name)
{
    open(json, name, '{');
}

void json_end_object(struct json *json)
{
    end(json, '}');
}

void json_list(struct json *json, const char *name)
{
    open(json, name, '[');
}

void json_end_list(struct json *json)
{
    end(json, ']');
}

void json_text(struct json *json, const char *name, const char *value)
{
    begin(json, name);
    fputc('"', json->file);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', json->file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, json->file);
    }
    fputc('"', json->file);
}

void json_truth(struct json *json, const char *name, bool value)
{
    begin(json, name);
    fputs(value ? "true" : "false", json->file);
}

void json_whole(struct json *json, const char *name, long long value)
{
    begin(json, name);
    fprintf(json->file, "%lld", value);
}

void json_number(struct json *json, const char *name, double value)
{
    begin(json, name);
    if (isfinite(value))
        fprintf(json->file, "%.6g", value);
    else
        fputs("null", json->file);
}

void json_spread(struct json *json, const char *name, struct bench_spread value)
{
    json_object(json, name);
    json_number(json, "median", value.median);
    json_number(json, "q1", value.q1);
    json_number(json, "q3", value.q3);
    json_end_object(json);
}

void json_machine(struct json *json, const struct bench_machine *machine)
{
    json_text(json, "date", machine->date);
    json_text(json, "driver", machine->driver);
    json_truth(json, "software_driver", machine->software);
    json_line(json, 2);
    json_text(json, "device", machine->device);
}
