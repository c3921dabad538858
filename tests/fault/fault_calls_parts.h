/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of fault_calls. */
#ifndef GR_TESTS_FAULT_CALLS_PARTS_H
#define GR_TESTS_FAULT_CALLS_PARTS_H

#include "fault_calls.h"

#include <stdint.h>

/* How a C library function reports a failure. */
enum answer { ANSWER_NULL, ANSWER_MINUS_ONE, ANSWER_ERRNO, ANSWER_ZERO };

struct system_function {
    const char *name;
    enum call_kind kind;
    enum answer answer;
    int code;
};
const struct system_function *system_function_of(const char *name);

/* A creating function, a destroying one, and the index of the thing in the latter's arguments. */
#define NO_ARGUMENT 9
struct balance {
    const char *more, *less;
    unsigned thing;
};
extern const struct balance balances[CALL_BALANCES];

enum call_kind kind_of(const char *name);
bool can_it_fail(const char *name, enum call_kind kind);
bool ends_something(const char *name);

/* Queries and bindings with valid arguments only fail if the context is lost. */
bool fails_when_lost_only(const char *name);

/* The address to call instead of the function; `variable` is epoxy's pointer to it. */
void *point_at(const char *name, void *real, void *const *variable);

/* The same for an import; the slot replaces epoxy's variable. */
void *point_at_import(const char *name, void *real, void *const *variable);

/* Where grinterop's file and its code are in memory. */
struct library_code {
    uintptr_t start, end, base;
};
extern struct library_code library_code;

#endif
