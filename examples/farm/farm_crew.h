/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a farm, by MPI: who there is, what all agree on, and a counter that hands out work.
 *
 * An error of MPI ends the whole job, which is MPI's default: no rank waits for one that is gone.
 */
#ifndef FARM_CREW_H
#define FARM_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crew {
    int rank, ranks;
    int local_rank, local_ranks; /* of those on this node */
    int nodes;
};

/* Joins the others. crew_close() leaves; every rank has to call it. */
void crew_open(int *argc, char ***argv, struct crew *crew);
void crew_close(void);

/* Ends all ranks, with status 1. What has been printed is printed. */
_Noreturn void crew_abort(void);

/* Each of these is called by all ranks, and waits for all. */
bool crew_all(bool good);                                   /* whether it is good for all */
void crew_or(unsigned char *bits, size_t bytes);            /* the bits of all */
void crew_gather(const void *own, void *all, size_t bytes); /* into rank 0's `all`, by rank */
void crew_barrier(void);

/*
 * The same as crew_barrier(), for long waits: it sleeps in between, since MPI's own waiting keeps a
 * processor busy, and calls `meanwhile` about 20 times a second, unless that is NULL.
 */
void crew_barrier_slow(void (*meanwhile)(void *), void *user);

/* The next n pieces of work: returns the first one's number. No other rank gets them. */
int64_t crew_take(int64_t n);

/* Adds to what is done, and tells it; n may be 0. */
int64_t crew_count_done(int64_t n);

#endif
