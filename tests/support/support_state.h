/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The OpenGL state of an application, and calls that must preserve it: bindings of buffers and of
 * three texture units, pixel storage, framebuffers, the current contexts, and a pending error.
 */
#ifndef GR_TESTS_SUPPORT_STATE_H
#define GR_TESTS_SUPPORT_STATE_H

#include "support.h"

/* Binds an object to every binding point: a test then notices a binding that was reset to 0. */
void state_bind(void);

/* Checks that an object is bound to every binding point. */
void state_assert_bound(void);

struct state_step {
    const char *name;
    bool (*run)(void); /* returns whether the calls gave the expected results */
};

struct state_steps {
    void (*prepare)(void); /* creates the objects that the steps use */
    void (*finish)(void);  /* checks the objects at the end, with OpenGL's initial pixel storage */
    size_t count;
    const struct state_step *steps;
};

/*
 * Runs the steps, each while this OpenGL error is pending. Each step must succeed and preserve the
 * state and the pending error.
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
