/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shared by the files of test_contract, each of which is named after the calls that it tests. */
#ifndef GR_TESTS_CONTRACT_H
#define GR_TESTS_CONTRACT_H

#include "tests/support/support.h"

/* The size of the buffer of each case. */
#define SIZE 4096

/* Adds a resource case whose fixture also sets up shared storage. */
TCase *add_sharing_case(Suite *suite, const char *name);

/*
 * Creates a buffer resource by interop (0), copy (1) or shared storage (2). Returns NULL if that
 * kind is not available.
 */
gr_resource *make_resource(int kind, GLuint *name);

#endif
