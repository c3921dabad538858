/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes JSON members and elements in order, with commas as needed. Each member of the outermost
 * object and each element of a list starts a line.
 *
 * `name` is the name of an object member; NULL for a list element.
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/bench.h"

struct json {
    FILE *file;
    const char *path;
    bool follows; /* whether the current object or list already has a value */
    int depth;    /* the number of open objects and lists */
};

/*
 * Opens the file and its outermost object, and writes the machine facts. False after an error,
 * which has been printed.
 */
bool json_create(struct json *json, const char *path, const struct bench_machine *machine);

/* Closes the object and the file. False after an error, which has been printed. */
bool json_finish(struct json *json);

void json_object(struct json *json, const char *name);
void json_end_object(struct json *json);
void json_list(struct json *json, const char *name);
void json_end_list(struct json *json);

/*
 * Writes members, such as "frames %u wait_us %g": each name is followed by the type of its value,
 * %s, %d, %u, %zu, %lld or %g. A %g value that is not finite is written as null.
 */
void json_members(struct json *json, const char *members, ...)
    __attribute__((format(printf, 2, 3)));
void json_number(struct json *json, const char *name, double value);
void json_truth(struct json *json, const char *name, bool value);
void json_spread(struct json *json, const char *name, struct bench_spread value);

#endif
