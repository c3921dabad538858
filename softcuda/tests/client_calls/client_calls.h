/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations that the files of test_client_calls share. */
#ifndef GR_TESTS_CLIENT_CALLS_H
#define GR_TESTS_CLIENT_CALLS_H

#include "tests/support/driver_symbol.h"

#define SIZE ((size_t)64 * 1024)

#endif
