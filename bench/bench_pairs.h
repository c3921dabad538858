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
    /* the cost of the second half of the block / the cost of the first half; NaN for one frame */
    double halves;
    double waiting; /* the frames unfinished at the end of the block; NaN if not counted */
};

/* The measurement of a row. */
struct bench_pairs {
    const char *key;   /* the name of the row, for the progress line */
    unsigned subjects; /* 2, or 1 to measure only the first subject */
    unsigned warm_ups; /* the number of untimed blocks of each subject before the timed ones */
    unsigned blocks;   /* the maximum number of timed blocks of each subject */
    double seconds;    /* the time limit in seconds, or INFINITY; at least 10 blocks are measured */

    /* The callbacks get the pointer `of`. False after an error, which has been printed. */
    bool (*enqueue)(void *of, unsigned subject, unsigned frames);
    bool (*block)(void *of, unsigned subject, struct bench_block *block);
    void *of;
};

/* The result of a row: medians in microseconds per frame, or NaN if not measured. */
struct bench_comparison {
    unsigned blocks; /* the number of timed blocks of each subject */
    struct bench_spread wall[BENCH_SUBJECTS];
    double thread_cpu[BENCH_SUBJECTS];
    struct bench_spread ratio; /* time of subject 1 / time of subject 0 in adjacent blocks */
    double halves, waiting[BENCH_SUBJECTS];
};

/*
 * Enqueues the frames of a subject and measures their time. The callback block() of a row may call
 * it.
 */
bool bench_time_block(const struct bench_pairs *pairs, unsigned subject, unsigned frames,
                      struct bench_block *block);
bool bench_compare(const struct bench_pairs *pairs, struct bench_comparison *result);

/*
 * Adds the values of the comparison to the result: microseconds per frame of both subjects, the
 * subject of interest first, their ratio and CPU times.
 */
void bench_set_comparison(struct bench_result *result, const struct bench_comparison *of,
                          const char *const subjects[BENCH_SUBJECTS]);

#endif
