/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls as they are recorded: which one, on which thread, with which arguments. An argument is a
 * number, most often of a place in the model, so that a list of calls means the same in each run.
 */
#ifndef GR_TESTS_FUZZ_SCRIPT_H
#define GR_TESTS_FUZZ_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_ARGUMENTS 12
#define MOST_CALLS     512
#define MOST_THREADS   8
#define MOST_ENTRIES   400

struct call {
    int entry; /* in the table of calls.h */
    int argument[MOST_ARGUMENTS];
};

/* What one thread does in a sequence. */
struct script {
    unsigned count;
    struct call calls[MOST_CALLS];
};

/*
 * What the child that makes the calls leaves to its parent, in memory of both: it is complete at
 * the moment the child dies.
 */
struct journal {
    struct script scripts[MOST_THREADS];
    uint32_t seed; /* of this sequence */
    uint64_t made; /* calls that were made before this sequence */
    bool software; /* the child is on the software driver */
    unsigned good[MOST_ENTRIES], refused[MOST_ENTRIES]; /* calls by what came of them */
    char failure[1024]; /* what was wrong; "" where the child died of something else */
};

/* One line a call: the thread, the name, and each argument behind its letter. */
void script_write(FILE *file, const struct script scripts[]);

/* Reads such lines. Empty ones, and those that begin with '#', are passed over. */
bool script_read(FILE *file, struct script scripts[]);

#endif
