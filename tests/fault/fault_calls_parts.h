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

/*
 * A creating function, a destroying function, and the index of the argument by which the destroying
 * function gets the object.
 */
#define NO_ARGUMENT 9
struct balance {
    const char *more, *less;
    unsigned thing;
};
extern const struct balance balances[CALL_BALANCES];

enum call_kind kind_of(const char *name);
bool can_it_fail(const char *name, enum call_kind kind);
bool ends_something(const char *name);

/*
 * Whether the function fails only if the context is lost: queries, and bindings with valid
 * arguments.
 */
bool fails_when_lost_only(const char *name);

/*
 * Returns the address to call instead of the function. `variable` is the pointer of epoxy to the
 * function.
 */
void *point_at(const char *name, void *real, void *const *variable);

/*
 * Like point_at(), for an imported function. If grinterop imports the variable of epoxy, returns
 * the address of another variable, which contains the thunk.
 */
void *point_at_import(const char *name, void *real, void *const *variable);

/* The libraries of grinterop: the addresses of their files and of their code. */
struct library_code {
    const char *name;
    uintptr_t start, end, base;
};
enum { LIBRARIES = 2 };
extern struct library_code library_code[LIBRARIES];

#endif
