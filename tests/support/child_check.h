/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Short forms for the child processes of support.h: a check inside a child, and a macro that runs a
 * child, which must succeed.
 */
#ifndef GR_TESTS_CHILD_CHECK_H
#define GR_TESTS_CHILD_CHECK_H

#include "support.h"

#include <stdio.h>

/* If a child sets this, LeakSanitizer ignores the objects that the child leaves open. */
extern bool leaves_all_open;

/* A failed check also shows this thread's last error, which is often the reason. */
#define child_check(condition) ck_assert_msg(condition, "not so: %s; %s", #condition, error_text())

/*
 * For the parent: runs the child, which must return 0. The output of the child is truncated, since
 * a message of more than 4096 bytes makes Check end the whole program.
 */
#define expect_child(name)                                                                         \
    do {                                                                                           \
        char said_[8192];                                                                          \
        int ended_ = child_run(name, said_, sizeof(said_));                                        \
        ck_assert_msg(ended_ == 0, "child %s ended with 0x%x: %.3500s", name, (unsigned)ended_,    \
                      said_);                                                                      \
    } while (0)

/*
 * CHILD_TEST(name) {...}: a test whose body runs in a child, and returns its exit status. With a
 * count, as for TEST(), each number runs in its own child. CHILD_TEST_UNLESS() is skipped like
 * TEST_UNLESS().
 */
#define CHILD_TEST(...)                 CHILD_TEST_OF(NULL, __VA_ARGS__, 1, 0)
#define CHILD_TEST_UNLESS(missing, ...) CHILD_TEST_OF(missing, __VA_ARGS__, 1, 0)
#define CHILD_TEST_OF(missing, title, times, ...)                                                  \
    TEST_UNLESS_OF(missing, title, times, 0)                                                       \
    {                                                                                              \
        char child_[sizeof(#title) + 32];                                                          \
        snprintf(child_, sizeof(child_), "%s_child %d", #title, _i);                               \
        expect_child(child_);                                                                      \
    }                                                                                              \
    CHILD(title##_child)

#endif
