/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenGL's state as the application has it, and calls that have to leave it alone: bindings of
 * buffers and of three texture units, pixel storage, framebuffers, the current contexts, and an
 * error that was pending from before.
 */
#ifndef GR_TESTS_SUPPORT_STATE_H
#define GR_TESTS_SUPPORT_STATE_H

#include "support.h"

/* Puts something of its own in each place, so that a 0 put there is a change. */
void state_bind(void);

/* There is something in each place. */
void state_assert_bound(void);

struct state_step {
    const char *name;
    bool (*run)(void); /* whether the calls gave what they have to */
};

struct state_steps {
    void (*prepare)(void); /* makes what the steps work on */
    void (*finish)(void);  /* looks at it in the end, with pixel storage as OpenGL begins */
    size_t count;
    const struct state_step *steps;
};

/*
 * Runs the steps, each with this OpenGL error pending: each has to be good and to leave the state
 * and the error as they were.
 */
void state_run_steps(const struct state_steps *all, GLenum pending);

#define TEST_STATE(steps)                                                                          \
    TEST(no_call_changes_bindings_or_raises_an_error)                                              \
    {                                                                                              \
        state_run_steps(steps, GL_NO_ERROR);                                                       \
    }                                                                                              \
    TEST(an_error_from_before_stays_pending_over_each_call)                                        \
    {                                                                                              \
        state_run_steps(steps, GL_INVALID_ENUM);                                                   \
    }

#endif
