/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_contract, each of which is named after the calls that it tests. */
#ifndef GR_TESTS_CONTRACT_H
#define GR_TESTS_CONTRACT_H

#include "tests/support/support.h"

/* The size of each case's buffer. */
#define SIZE 4096

/* Counts of grinterop's debug lines, by their words, while the case listens. */
extern struct seen {
    int closed, warnings;
} seen;
void start_listening(void);
void stop_listening(void);

/* A resource case with the set-up for shared storage. */
TCase *add_sharing_case(Suite *suite, const char *name);

/* A buffer resource by interop (0), copy (1) or shared storage (2); NULL if that is unavailable. */
gr_resource *make_resource(int kind, GLuint *name);

#endif
