/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes JSON. Numbers that are not finite become null, since JSON has no NaN. */
#define _GNU_SOURCE
#include "bench/bench_json.h"

#include <math.h>
#include <stdarg.h>

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

static void write_text(struct json *json, const char *value)
{
    fputc('"', json->file);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', json->file);
        if ((unsigned char)*value >= ' ')
            fputc(*value, json->file);
    }
    fputc('"', json->file);
}

static void write_machine(struct json *json, const struct bench_machine *machine)
{
    json_members(json, "date %s driver %s", machine->date, machine->driver);
    json_truth(json, "software_driver", machine->software);
    json_members(json, "device %s", machine->device);
    for (size_t i = 0; i < machine->fact_count; i++)
        if (machine->facts[i].key) {
            begin(json, machine->facts[i].key);
            write_text(json, machine->facts[i].text);
        }
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

void json_truth(struct json *json, const char *name, bool value)
{
    begin(json, name);
    fputs(value ? "true" : "false", json->file);
}

static void write_number(struct json *json, double value)
{
    if (isfinite(value))
        fprintf(json->file, "%.6g", value);
    else
        fputs("null", json->file);
}

void json_number(struct json *json, const char *name, double value)
{
    begin(json, name);
    write_number(json, value);
}

static void write_value(struct json *json, char type, va_list *values)
{
    switch (type) {
    case 's':
        write_text(json, va_arg(*values, const char *));
        break;
    case 'g':
        write_number(json, va_arg(*values, double));
        break;
    case 'd':
        fprintf(json->file, "%d", va_arg(*values, int));
        break;
    case 'u':
        fprintf(json->file, "%u", va_arg(*values, unsigned));
        break;
    case 'z':
        fprintf(json->file, "%zu", va_arg(*values, size_t));
        break;
    default:
        fprintf(json->file, "%lld", va_arg(*values, long long));
    }
}

void json_members(struct json *json, const char *members, ...)
{
    char name[64], type[8];
    int length;
    va_list values;
    va_start(values, members);
    for (; sscanf(members, "%63s %%%7s%n", name, type, &length) == 2; members += length) {
        begin(json, name);
        write_value(json, type[0], &values);
    }
    va_end(values);
}

void json_spread(struct json *json, const char *name, struct bench_spread value)
{
    json_object(json, name);
    json_members(json, "median %g q1 %g q3 %g", value.median, value.q1, value.q3);
    json_end_object(json);
}
