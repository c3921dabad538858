/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Test cases without Check, for tests that also run on Windows. Counts the cases and prints the
 * result in Check's format.
 */
#ifndef GR_TESTS_PLAIN_CASE_H
#define GR_TESTS_PLAIN_CASE_H

#include <stdbool.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Counts a case. `wrong` is the result of its function: NULL, or an error text from FAIL() or
 * REQUIRE().
 */
void plain_case(const char *group, const char *name, const char *wrong);

/* Counts a case that cannot run on this machine, and prints the reason. */
void plain_skip(const char *group, const char *name, const char *reason);

/* Prints the result of all cases; returns the value for main(). */
int plain_verdict(void);

/*
 * Makes grinterop load a test driver, such as "recorder_driver", from the folder of this program or
 * from the folder in which libtool builds it. If the file is missing, prints a line and returns
 * false.
 */
bool plain_driver(const char *program, const char *name);

#ifdef __MINGW32__
#define LIKE_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define LIKE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#endif
const char *fail_at(const char *file, int line, const char *format, ...) LIKE_PRINTF(3, 4);

#define FAIL(...) return fail_at(__FILE__, __LINE__, __VA_ARGS__)
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("not so: %s", #condition);                                                        \
    } while (0)
/* For functions that return NULL or an error text: if `result` is an error text, returns it. */
#define PASS_ON(result)                                                                            \
    do {                                                                                           \
        const char *wrong_ = (result);                                                             \
        if (wrong_)                                                                                \
            return wrong_;                                                                         \
    } while (0)

#endif
