/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes JSON. Numbers that are not finite become null, since JSON has no NaN. */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>

static void begin_line(const struct json *json)
{
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

/* Writes the comma, line break and name that precede a value. */
static void begin(struct json *json, const char *name)
{
    const bool new_line = json->depth == 1 || (json->depth > 1 && !name);
    if (json->follows)
        fputs(new_line ? "," : ", ", json->file);
    if (new_line)
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
    json->depth++;
}

static void end(struct json *json, char bracket)
{
    json->depth--;
    if (bracket == ']' || json->depth == 0)
        begin_line(json);
    fputc(bracket, json->file);
    json->follows = true;
}

static void write_machine(struct json *json, const struct bench_machine *machine)
{
    json_text(json, "date", machine->date);
    json_text(json, "driver", machine->driver);
    json_truth(json, "software_driver", machine->software);
    json_text(json, "device", machine->device);
    for (size_t i = 0; i < machine->fact_count; i++)
        if (machine->facts[i].key)
            json_text(json, machine->facts[i].key, machine->facts[i].text);
}

bool json_create(struct json *json, const char *path, const struct bench_machine *machine)
{
    *json = (struct json){.file = bench_create(path), .path = path};
    if (!json->file)
        return false;
    json_object(json, NULL);
    write_machine(json, machine);
    return true;
}

bool json_finish(struct json *json)
{
    json_end_object(json);
    fputc('\n', json->file);
    return bench_finish(json->file, json->path);
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
