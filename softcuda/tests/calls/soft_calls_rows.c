/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls entry points with zeros as arguments: before cuInit(), without a context, and with a
 * context. Entry points that would end the primary context or change the current context are tested
 * elsewhere.
 */
#define _GNU_SOURCE
#include "soft_calls.h"

#include "tests/support/child_check.h"

#include <stdio.h>
#include <stdlib.h>

struct row {
    const char *name;
    CUresult (*call)(void);
    CUresult without_context, with_context;
};

/* Arguments of so many zeros. */
#define ZEROS_0  ()
#define ZEROS_1  (0)
#define ZEROS_2  (0, 0)
#define ZEROS_3  (0, 0, 0)
#define ZEROS_4  (0, 0, 0, 0)
#define ZEROS_5  (0, 0, 0, 0, 0)
#define ZEROS_6  (0, 0, 0, 0, 0, 0)
#define ZEROS_7  (0, 0, 0, 0, 0, 0, 0)
#define ZEROS_8  (0, 0, 0, 0, 0, 0, 0, 0)
#define ZEROS_11 (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

#define ROW(name, count, without, with)                                                            \
    static CUresult call_##name(void)                                                              \
    {                                                                                              \
        return DRIVER(name) ZEROS_##count;                                                         \
    }
#include "soft_calls_rows.h"
#undef ROW

static const struct row rows[] = {
#define ROW(name, count, without, with) {#name, call_##name, CUDA_##without, CUDA_##with},
#include "soft_calls_rows.h"
#undef ROW
};
#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

/* Records a wrong code, so that one run shows all of them. Returns how many codes were wrong. */
static int check(const struct row *row, CUresult wanted)
{
    const CUresult got = row->call();
    if (got == wanted)
        return 0;
    fprintf(stderr, "%s returned %d, not %d\n", row->name, (int)got, (int)wanted);
    note_difference("%s returned %d (%s), not %d", row->name, (int)got, result_name((int)got),
                    (int)wanted);
    return 1;
}

#define DRIVER_FILE "GR_TEST_DRIVER_FILE"

/* Runs in a separate process, in which cuInit() was not called. */
CHILD(rows_before_init)
{
    int wrong = 0;
    driver_symbols_of(getenv(DRIVER_FILE));
    for (size_t i = 0; i < ROW_COUNT; i++)
        wrong += check(&rows[i], CUDA_ERROR_NOT_INITIALIZED);
    return wrong != 0;
}

GROUP("zeros", add_case)

SOFT_TEST(calls_before_init_fail)
{
    ck_assert_int_eq(setenv(DRIVER_FILE, gr_cuda_driver_path(), 1), 0);
    expect_child("rows_before_init");
}

static void check_rows(bool has_context)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        CU(CtxSetCurrent(has_context ? fx.context : NULL));
        check(&rows[i], has_context ? rows[i].with_context : rows[i].without_context);
    }
}

SOFT_TEST(calls_without_a_context_return_the_expected_codes)
{
    check_rows(false);
}

SOFT_TEST(calls_with_zeros_return_the_expected_codes)
{
    check_rows(true);
}
