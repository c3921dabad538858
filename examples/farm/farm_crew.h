/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The MPI ranks of a farm: ranks, collective operations and a counter that distributes work.
 *
 * By default, MPI aborts the whole job after an error, so no rank waits for a failed rank.
 */
#ifndef FARM_CREW_H
#define FARM_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew {
    int rank, ranks;
    int local_rank, local_ranks; /* the rank among the ranks of this node, and their number */
    int nodes;
};

/* Starts MPI. Every rank must call crew_close() in the end. */
void crew_open(int *argc, char ***argv, struct crew *crew);
void crew_close(void);

/* Ends all ranks with status 1. Flushes the output first. */
_Noreturn void crew_abort(void);

/* Collective functions: every rank must call them, and each call waits for all ranks. */
bool crew_all(bool good);                        /* whether `good` is true on all ranks */
void crew_or(unsigned char *bits, size_t bytes); /* combines the bits of all ranks by OR */
/* copies `own` of each rank to `all` on rank 0, ordered by rank */
void crew_gather(const void *own, void *all, size_t bytes);
void crew_barrier(void);

/*
 * Like crew_barrier(), for long waits: sleeps while it waits, since MPI would busy-wait. Calls
 * `meanwhile`, unless it is NULL, about 20 times a second.
 */
void crew_barrier_slow(void (*meanwhile)(void *), void *user);

/* Takes the next n work items for this rank. Returns the number of the first. */
int64_t crew_take(int64_t n);

/* Adds n, which may be 0, to the finished items and returns the total. */
int64_t crew_count_done(int64_t n);

#endif
