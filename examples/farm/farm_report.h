/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a farm says: who takes part, how far it is, and what came of it.
 */
#ifndef FARM_REPORT_H
#define FARM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* One rank's place, and what it did. The same bytes mean the same on all nodes. */
struct farm_rank {
    char host[64], device_name[100];
    int32_t process, device, software;
    int32_t processors, node_processors; /* that it may run on; that there are */
    int32_t frames;
    uint64_t checksum, bytes;
    double opened;  /* seconds from its start until it could render */
    double seconds; /* from the common start until its last picture was there */
};

/* What all did together. */
struct farm_sum {
    int ranks, nodes, writers;
    int frames, found; /* rendered; there from the start */
    double seconds;    /* from the common start until all had ended */
    bool files;
};

/* A line for each of the first ranks. */
void farm_report_ranks(const struct farm_rank ranks[], const struct farm_sum *sum);

/* How far it is. Zeros and the total begin it. */
struct farm_progress {
    int total;
    double begun; /* of clock_seconds() */
    bool terminal;
    double shown;
    int shown_tenth;
};

/* On a terminal one line that changes; elsewhere a line for each tenth, and for each minute. */
void farm_progress_begin(struct farm_progress *progress, int total);
void farm_progress_show(struct farm_progress *progress, int done);
void farm_progress_end(const struct farm_progress *progress);

/* In the end. `checksum` and the bytes are those of all ranks. */
void farm_report_sum(const struct farm_rank ranks[], const struct farm_sum *sum);

#endif
