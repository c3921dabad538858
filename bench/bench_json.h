/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON: members and elements one after the other, with commas between them as needed. Each
 * member of the outermost object and each element of a list begins a line.
 *
 * A name is that of a member of an object; NULL stands for an element of a list.
 */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/bench.h"

struct json {
    FILE *file;
    const char *path;
    bool follows; /* something stands before in the same object or list */
    int depth;    /* objects and lists that are open */
};

/*
 * Begins the file with its outermost object, and that with the facts about the machine. False after
 * an error, which has been printed.
 */
bool json_create(struct json *json, const char *path, const struct bench_machine *machine);

/* Ends both; false after an error, which has been printed. */
bool json_finish(struct json *json);

void json_object(struct json *json, const char *name);
void json_end_object(struct json *json);
void json_list(struct json *json, const char *name);
void json_end_list(struct json *json);

void json_text(struct json *json, const char *name, const char *value);
void json_truth(struct json *json, const char *name, bool value);
void json_whole(struct json *json, const char *name, long long value);
void json_number(struct json *json, const char *name, double value); /* null if it is not finite */
void json_spread(struct json *json, const char *name, struct bench_spread value);

#endif
