/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The MPI ranks of a farm: ranks, collective operations and a counter that distributes work.
 *
 * An MPI error aborts the whole job, as is MPI's default: no rank waits for one that is gone.
 */
#ifndef FARM_CREW_H
#define FARM_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew {
    int rank, ranks;
    int local_rank, local_ranks; /* on this node */
    int nodes;
};

/* Starts MPI. Every rank must call crew_close() in the end. */
void crew_open(int *argc, char ***argv, struct crew *crew);
void crew_close(void);

/* Ends all ranks with status 1. Flushes what has been printed. */
_Noreturn void crew_abort(void);

/* Collective: every rank must call these; they wait for all. */
bool crew_all(bool good);                        /* true if `good` is true on all ranks */
void crew_or(unsigned char *bits, size_t bytes); /* ORs the bits of all ranks */
void crew_gather(const void *own, void *all, size_t bytes); /* to `all` on rank 0, by rank */
void crew_barrier(void);

/*
 * Like crew_barrier(), for long waits: sleeps in between, since MPI busy-waits, and calls
 * `meanwhile`, unless NULL, about 20 times a second.
 */
void crew_barrier_slow(void (*meanwhile)(void *), void *user);

/* Takes the next n work items for this rank. Returns the number of the first. */
int64_t crew_take(int64_t n);

/* Adds n, which may be 0, to the finished items and returns the total. */
int64_t crew_count_done(int64_t n);

#endif
