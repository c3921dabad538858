/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The output of a farm: its ranks, progress, and summary. */
#ifndef FARM_REPORT_H
#define FARM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* A rank: where it runs, and its results. The layout of the struct is the same on all nodes. */
struct farm_rank {
    char host[64], device_name[100];
    int32_t process, device, software;
    /* the CPUs that the rank may use, and the CPUs of the node */
    int32_t processors, node_processors;
    int32_t frames;
    uint64_t checksum, bytes;
    double opened;  /* seconds from the start of the process until the rank was ready */
    double seconds; /* seconds from the common start to the last picture of the rank */
};

/* The combined results of all ranks. */
struct farm_sum {
    int ranks, nodes, writers;
    int frames, found; /* the frames rendered now, and those already present */
    double seconds;    /* seconds from the common start until all ranks had ended */
    bool files;
};

/* Prints a line for each of the first ranks. */
void farm_report_ranks(const struct farm_rank ranks[], const struct farm_sum *sum);

/* The progress. To begin, set `total` and zero the other members. */
struct farm_progress {
    int total;
    double begun; /* the start, by clock_seconds() */
    bool terminal;
    double shown;
    int shown_tenth;
};

/*
 * Prints the progress: on a terminal in one line that is updated, otherwise a line per 10 % and per
 * minute.
 */
void farm_progress_begin(struct farm_progress *progress, int total);
void farm_progress_show(struct farm_progress *progress, int done);
void farm_progress_end(const struct farm_progress *progress);

/* Prints the summary. `checksum` and `bytes` are the totals of all ranks. */
void farm_report_sum(const struct farm_rank ranks[], const struct farm_sum *sum);

#endif
