/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of the header test. tests/api/functions.def has the public functions. */
#ifndef GR_TESTS_HEADERS_H
#define GR_TESTS_HEADERS_H

#include <stdio.h>

typedef void (*anything)(void);

/* The number of public functions. */
enum {
    FUNCTION_COUNT = 0
#define FUNCTION(name, ...) +1
#include "tests/api/functions.def"
};

#ifdef __cplusplus
extern "C" {
#endif

/*
 * For headers_cxx.cc: cxx_functions() returns the functions as C++ sees them, and cxx_scope()
 * returns 1 if scopes work in C++.
 */
void cxx_functions(anything *functions);
int cxx_scope(void);

/* For inline_symbols.c: checks the inline functions as symbols. Prints the last error to `file`. */
void check_inline_symbols(FILE *file);

#ifdef __cplusplus
}
#endif
#endif
