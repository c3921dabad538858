/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of test_contract have in common, each of which is named for the calls it tests. */
#ifndef GR_TESTS_CONTRACT_H
#define GR_TESTS_CONTRACT_H

#include "tests/support/support.h"

/* Of the buffer of each case. */
#define SIZE 4096

/* What grinterop says it did, by words of its debug lines, while it is listened to. */
extern struct seen {
    int closed, warnings;
} seen;
void start_listening(void);
void stop_listening(void);

/* A resource case that also has what shared storage needs. */
TCase *add_sharing_case(Suite *suite, const char *name);

/* A buffer resource by interop (0), copy (1) or shared storage (2); NULL where there is none. */
gr_resource *make_resource(int kind, GLuint *name);

#endif
