/* SPDX-License-Identifier: Apache-2.0 */
/* A run in a process of its own, whose end is looked at from outside, also where it is a crash. */
#ifndef GR_TESTS_FUZZ_CHILD_H
#define GR_TESTS_FUZZ_CHILD_H

#include "run.h"

struct verdict {
    bool failed, cannot;
    char text[1200]; /* what was wrong, or why it can't run here */
};

/* Makes calls as `run` says, or again what its journal holds. */
struct verdict child_run(const struct run *run, bool again, bool quiet);

#endif
