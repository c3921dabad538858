/* SPDX-License-Identifier: Apache-2.0 */
/* One process's run: worlds are made, sequences run in them, and what is left is looked at. */
#ifndef GR_TESTS_FUZZ_RUN_H
#define GR_TESTS_FUZZ_RUN_H

#include "model.h"

/* The exit status of a child that found something, or has looked in vain. */
#define RUN_FAILED 3
#define RUN_CANNOT 77

struct run {
    uint32_t seed;
    uint64_t calls;   /* how many; 0: no limit */
    unsigned seconds; /* 0: no limit */
    unsigned length, threads;
    struct journal *journal;
};

/* Makes sequences, in a process that does nothing else; returns its exit status. */
int run_sequences(const struct run *run);

/* Runs what the journal holds, once. */
int run_again(const struct run *run);

/* For fail(): notes what was wrong and ends the process. */
void run_failed(struct world *w, const char *text) __attribute__((noreturn));

#endif
