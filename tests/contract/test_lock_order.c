/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The check of the order of locks. Builds with a sanitizer have it in the library, so all their
 * tests fail if a lock is taken out of order.
 */
#ifndef GR_CHECK_LOCKS
#define GR_CHECK_LOCKS
#endif
#include "lib/base/lock.c"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/support.h"

static struct gr_lock ring = GR_LOCK(RING), other_ring = GR_LOCK(RING);
static struct gr_lock semaphore = GR_LOCK(SEMAPHORE);

/*
 * Takes both locks in another process. If there is no second lock, makes the check before calls of
 * the program. Returns the signal that ended the process, or 0.
 */
static int signal_after(struct gr_lock *first, struct gr_lock *second)
{
    int status = 0;
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(STDERR_FILENO); /* the message is expected */
        if (first)
            gr_lock(first);
        if (second)
            gr_lock(second);
        else
            gr_lock_check_free();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

GROUP("order", add_bare_case)

TEST(locks_are_taken_in_their_order)
{
    ck_assert_int_eq(signal_after(&ring, &semaphore), 0);
}

TEST(a_lock_out_of_order_ends_the_process)
{
    ck_assert_int_eq(signal_after(&semaphore, &ring), SIGABRT);
}

TEST(two_locks_of_one_kind_end_the_process)
{
    ck_assert_int_eq(signal_after(&ring, &other_ring), SIGABRT);
}

TEST(calls_of_the_program_under_a_lock_end_the_process)
{
    ck_assert_int_eq(signal_after(&ring, NULL), SIGABRT);
    ck_assert_int_eq(signal_after(NULL, NULL), 0);
}

TEST(a_lock_that_was_given_back_does_not_count)
{
    for (int i = 0; i < 2; i++) {
        gr_lock(&semaphore);
        gr_unlock(&semaphore);
        GR_LOCKED(&ring);
    }
    ck_assert_int_eq(signal_after(&ring, &semaphore), 0);
}
