/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Queries, and the value that each must return. */
#ifndef GR_TESTS_READS_H
#define GR_TESTS_READS_H

#include "tests/support/support.h"

#include <string.h>

/*
 * The call must succeed and write the expected value, also if `value` had it before:
 * CU_READS(flags, 0, CtxGetFlags(&flags)). READS() calls an entry point by its exact name, as DRV()
 * does: READS(flags, 0, cuCtxGetFlags, (&flags)).
 */
#define CU_READS(value, expected, call) READS_BY(value, expected, CU(call), "cu" #call)
#define READS(value, expected, name, arguments)                                                    \
    READS_BY(value, expected, DRV(name, arguments), #name #arguments)
#define READS_BY(value, expected, call, text)                                                      \
    do {                                                                                           \
        memset(&(value), 0x5a, sizeof(value));                                                     \
        call;                                                                                      \
        ck_assert_msg((value) == (expected), "%s wrote 0x%llx, not %s", text,                      \
                      (unsigned long long)(uintptr_t)(value), #expected);                          \
    } while (0)

#endif
