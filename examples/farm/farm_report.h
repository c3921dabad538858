/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The output of a farm: its ranks, progress, and summary. */
#ifndef FARM_REPORT_H
#define FARM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* The place of a rank and its results. The layout is the same on all nodes. */
struct farm_rank {
    char host[64], device_name[100];
    int32_t process, device, software;
    int32_t processors, node_processors; /* CPUs it may use; CPUs of the node */
    int32_t frames;
    uint64_t checksum, bytes;
    double opened;  /* seconds from start to ready */
    double seconds; /* seconds from the common start to its last picture */
};

/* The combined results. */
struct farm_sum {
    int ranks, nodes, writers;
    int frames, found; /* rendered; already present */
    double seconds;    /* from the common start until all ranks had ended */
    bool files;
};

/* Prints a line for each of the first ranks. */
void farm_report_ranks(const struct farm_rank ranks[], const struct farm_sum *sum);

/* The progress. Begins with zeros and the total. */
struct farm_progress {
    int total;
    double begun; /* by clock_seconds() */
    bool terminal;
    double shown;
    int shown_tenth;
};

/* On a terminal, one line that is updated; otherwise a line per 10 % and per minute. */
void farm_progress_begin(struct farm_progress *progress, int total);
void farm_progress_show(struct farm_progress *progress, int done);
void farm_progress_end(const struct farm_progress *progress);

/* Prints the summary. `checksum` and `bytes` are totals of all ranks. */
void farm_report_sum(const struct farm_rank ranks[], const struct farm_sum *sum);

#endif
