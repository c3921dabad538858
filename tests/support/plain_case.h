/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases of the tests that also run on Windows, where there is no Check: they are counted here, and
 * the verdict is in Check's words.
 */
#ifndef GR_TESTS_PLAIN_CASE_H
#define GR_TESTS_PLAIN_CASE_H

#include <stdbool.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Counts a case, which gave NULL or what was wrong, from FAIL() or REQUIRE(). */
void plain_case(const char *group, const char *name, const char *wrong);

/* Counts a case that cannot run here, and says why. */
void plain_skip(const char *group, const char *name, const char *reason);

/* Prints the verdict on all cases; what main() returns. */
int plain_verdict(void);

/*
 * Lets grinterop load a driver of the tests, "recorder_driver", that lies beside this program or
 * where libtool puts it. False, with a line that says so, if it is not there.
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
/* For a function that returns what a case does. */
#define PASS_ON(result)                                                                            \
    do {                                                                                           \
        const char *wrong_ = (result);                                                             \
        if (wrong_)                                                                                \
            return wrong_;                                                                         \
    } while (0)

#endif
