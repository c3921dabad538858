/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A run in one process: creates worlds, runs sequences in them, and checks for leaks.
 */
#ifndef GR_TESTS_FUZZ_RUN_H
#define GR_TESTS_FUZZ_RUN_H

#include "model.h"

/*
 * The exit status of a child that found a failure, and of a child that cannot run on this machine.
 */
#define RUN_FAILED 3
#define RUN_CANNOT 77

struct run {
    uint32_t seed;
    uint64_t calls;   /* 0: no limit */
    unsigned seconds; /* 0: no limit */
    unsigned length, threads;
    struct journal *journal;
};

/* Generates and runs sequences. The process must do nothing else. Returns its exit status. */
int run_sequences(const struct run *run);

/* Makes the calls of the journal once. */
int run_again(const struct run *run);

/* For fail(): records the failure and ends the process. */
void run_failed(struct world *w, const char *text) __attribute__((noreturn));

#endif
