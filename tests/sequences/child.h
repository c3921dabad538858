/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs calls in a child process, so that the parent can report crashes. */
#ifndef GR_TESTS_FUZZ_CHILD_H
#define GR_TESTS_FUZZ_CHILD_H

#include "run.h"

struct verdict {
    bool failed, cannot;
    char text[1200]; /* the failure, or why it cannot run here */
};

/* Makes calls as `run` says or, with `again`, those in its journal. */
struct verdict child_run(const struct run *run, bool again, bool quiet);

#endif
