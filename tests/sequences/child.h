/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs calls in a child process, so that the parent can report crashes. */
#ifndef GR_TESTS_FUZZ_CHILD_H
#define GR_TESTS_FUZZ_CHILD_H

#include "run.h"

struct verdict {
    bool failed, cannot;
    char text[1200]; /* the failure, or the reason why the child cannot run on this machine */
};

/* Makes the calls that `run` describes. With `again`, repeats the calls in the journal of `run`. */
struct verdict child_run(const struct run *run, bool again, bool quiet);

#endif
