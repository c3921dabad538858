/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Recorded calls: entry, thread and arguments. An argument is a number, usually of a place in the
 * model, so a list of calls means the same in each run.
 */
#ifndef GR_TESTS_FUZZ_SCRIPT_H
#define GR_TESTS_FUZZ_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_ARGUMENTS 12
#define MOST_CALLS     512
#define MOST_THREADS   8
#define MOST_ENTRIES   400

struct call {
    int entry; /* the number of the entry in the table of calls.h */
    int argument[MOST_ARGUMENTS];
};

/* The calls of one thread in a sequence. */
struct script {
    unsigned count;
    struct call calls[MOST_CALLS];
};

/*
 * Shared memory in which a child records its calls for the parent. The record is complete whenever
 * the child dies.
 */
struct journal {
    struct script scripts[MOST_THREADS];
    uint32_t seed; /* the seed of this sequence */
    /* The number of calls before this sequence. */
    uint64_t made;
    /* Whether the child uses the software driver. */
    bool software;
    unsigned good[MOST_ENTRIES], refused[MOST_ENTRIES]; /* calls that succeeded or were refused */
    char failure[1024]; /* the failure; "" if the child died without reporting one */
};

/* Writes one line per call: the thread, the name, and each argument after its letter. */
void script_write(FILE *file, const struct script scripts[]);

/* Reads lines that script_write() has written. Skips empty lines and lines that begin with '#'. */
bool script_read(FILE *file, struct script scripts[]);

#endif
