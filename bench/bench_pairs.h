/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Measures two subjects, such as raw calls and grinterop, in blocks of alternating subjects,
 * A B B A, so that a drift of clocks or temperature affects both alike.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <stddef.h>

#include "bench/bench.h"

enum { BENCH_SUBJECTS = 2 };

/* The result of one block; times are in microseconds per frame. */
struct bench_block {
    double wall, cpu;
    double halves;  /* cost of its second half / first half; NaN for one frame */
    double waiting; /* frames unfinished at its end; NaN if not counted */
};

/* The measurement of a row. */
struct bench_pairs {
    const char *key; /* of the row, for the progress line; its number and that of all rows */
    size_t row, rows;
    unsigned subjects; /* 1: only the first */
    unsigned warm_ups; /* untimed blocks of each subject before the others */
    unsigned blocks;   /* timed blocks of each subject, at most */
    double seconds;    /* time limit, INFINITY for none; at least 10 blocks are taken */

    /* Callbacks get `of`; false after an error, which has been printed. */
    bool (*enqueue)(void *of, unsigned subject, unsigned frames);
    bool (*block)(void *of, unsigned subject, struct bench_block *block);
    void *of;
};

/* The result of a row: medians, in microseconds per frame; NaN if not measured. */
struct bench_comparison {
    unsigned blocks; /* timed blocks of each subject */
    struct bench_spread wall[BENCH_SUBJECTS];
    double thread_cpu[BENCH_SUBJECTS];
    struct bench_spread ratio; /* of adjacent blocks: second subject / first */
    double halves, waiting[BENCH_SUBJECTS];
};

/* Enqueues that many frames of a subject and times it: for block() of a row. */
bool bench_time_block(const struct bench_pairs *pairs, unsigned subject, unsigned frames,
                      struct bench_block *block);
bool bench_compare(const struct bench_pairs *pairs, struct bench_comparison *result);

double bench_ratio_of_medians(const struct bench_comparison *result); /* second subject / first */

/* The columns of a table: after the label and `counts`, before the notes on the queues. */
void bench_print_comparison_head(const char *title, const char *counts,
                                 const char *const subjects[BENCH_SUBJECTS], bool added);
void bench_print_comparison(const struct bench_comparison *result, const char *goal);

/* How much longer a block of the first kind takes, for both subjects. Accepts NULL. */
void bench_print_speedup(const char *label, const struct bench_comparison *many,
                         const struct bench_comparison *batch, const char *goal);

#endif
