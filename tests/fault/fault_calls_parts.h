/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of fault_calls share. */
#ifndef GR_TESTS_FAULT_CALLS_PARTS_H
#define GR_TESTS_FAULT_CALLS_PARTS_H

#include "fault_calls.h"

#include <stdint.h>

/* How a function of the C library says that it failed. */
enum answer { ANSWER_NULL, ANSWER_MINUS_ONE, ANSWER_ERRNO, ANSWER_ZERO };

struct system_function {
    const char *name;
    enum call_kind kind;
    enum answer answer;
    int code;
};
const struct system_function *system_function_of(const char *name);

/* What makes a thing, what ends it, and which of that one's arguments is the thing, from 0. */
#define NO_ARGUMENT 9
struct balance {
    const char *more, *less;
    unsigned thing;
};
extern const struct balance balances[CALL_BALANCES];

enum call_kind kind_of(const char *name);
bool can_it_fail(const char *name, enum call_kind kind);
bool ends_something(const char *name);

/* With the right arguments a query or a binding fails only where the context is lost. */
bool fails_when_lost_only(const char *name);

/* The address to call in the place of the function's; `variable` is epoxy's that holds it. */
void *point_at(const char *name, void *real, void *const *variable);

/* The same for an import, and its slot, which stands in the place of epoxy's variable. */
void *point_at_import(const char *name, void *real, void *const *variable);

/* Where grinterop's file is in memory, and its code. */
struct library_code {
    uintptr_t start, end, base;
};
extern struct library_code library_code;

#endif
