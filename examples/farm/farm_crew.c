/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The MPI ranks of a farm. Two counters are in the memory of rank 0. Every rank accesses them by
 * one-sided operations, so no rank has to serve the others.
 */
#define _GNU_SOURCE
#include "farm_crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mpi.h>

enum { TAKEN, DONE, COUNTERS };

static MPI_Win counters;

static int sum_of(int number)
{
    int sum = 0;
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/*
 * Finds the ranks on the same node: those that can share memory. Works under mpirun, Slurm and
 * others.
 */
static void find_place(struct crew *crew)
{
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, &crew->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &crew->ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, crew->rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &crew->local_rank);
    MPI_Comm_size(node, &crew->local_ranks);
    MPI_Comm_free(&node);
    crew->nodes = sum_of(crew->local_rank == 0);
}

static void make_counters(const struct crew *crew)
{
    int64_t *memory = NULL;
    const MPI_Aint size = crew->rank == 0 ? (MPI_Aint)(COUNTERS * sizeof(*memory)) : 0;
    MPI_Win_allocate(size, sizeof(*memory), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &counters);
    MPI_Win_lock_all(0, counters);
    if (crew->rank == 0) {
        memory[TAKEN] = memory[DONE] = 0;
        MPI_Win_sync(counters);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void crew_open(int *argc, char ***argv, struct crew *crew)
{
    int given;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given);
    find_place(crew);
    make_counters(crew);
}

void crew_close(void)
{
    MPI_Win_unlock_all(counters);
    MPI_Win_free(&counters);
    MPI_Finalize();
}

void crew_abort(void)
{
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

bool crew_all(bool good)
{
    int own = good, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

void crew_or(unsigned char *bits, size_t bytes)
{
    MPI_Allreduce(MPI_IN_PLACE, bits, (int)bytes, MPI_UNSIGNED_CHAR, MPI_BOR, MPI_COMM_WORLD);
}

void crew_gather(const void *own, void *all, size_t bytes)
{
    MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void crew_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void crew_barrier_slow(void (*meanwhile)(void *), void *user)
{
    const struct timespec a_little = {.tv_nsec = 1000000};
    MPI_Request all;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int i = 0; MPI_Test(&all, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done; i++) {
        nanosleep(&a_little, NULL);
        if (meanwhile && i % 50 == 0)
            meanwhile(user);
    }
}

static int64_t add_to(int which, int64_t n)
{
    int64_t before = 0;
    MPI_Fetch_and_op(&n, &before, MPI_INT64_T, 0, which, MPI_SUM, counters);
    MPI_Win_flush(0, counters);
    return before;
}

int64_t crew_take(int64_t n)
{
    return add_to(TAKEN, n);
}

int64_t crew_count_done(int64_t n)
{
    return add_to(DONE, n) + n;
}
