/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fibres: several stacks on one host thread, one stack for each thread of a block. A host thread
 * keeps its fibres for later blocks.
 */
#ifndef GR_SOFTCUDA_FIBRE_H
#define GR_SOFTCUDA_FIBRE_H

#include "softcuda/driver/kernel/fibre_place.h"
#include "softcuda/driver/kernel/kernel_run.h"

#include <stdint.h>

/*
 * The number of inaccessible bytes below each stack. A stack frame larger than this would step over
 * them.
 */
#define SOFT_STACK_GUARD ((size_t)1024 * 1024)

enum soft_fibre_state {
    SOFT_FIBRE_ENDED, /* has not started its CUDA thread, or has ended it */
    SOFT_FIBRE_RUNS,
    SOFT_FIBRE_AT_BARRIER,
    SOFT_FIBRE_AT_EXCHANGE,
    SOFT_FIBRE_STOPPED, /* stopped for good in the middle of its CUDA thread */
};

/* What a fibre contributes to an exchange, at which it waits for other lanes. */
typedef struct {
    unsigned mask;
    unsigned came;
    const void *site; /* the address of the call */
    uint64_t value;
    uint64_t *values;
} soft_exchange;

typedef struct {
    soft_place place;
    struct soft_fibres *set;
    uint64_t *canary;
    unsigned thread[3];
    enum soft_fibre_state state;
    soft_exchange exchange;
} soft_fibre;

typedef struct soft_fibres {
    soft_fibre *all;
    unsigned count;
    unsigned char *stacks; /* each stack is above its guard */
    size_t stack_size;
    bool guarded;
    soft_place host;
    soft_fibre *current; /* NULL while the host thread's own stack runs */
    unsigned used;       /* the number of fibres that this block uses */
    const gr_cuhost_kernel *kernel;
    const gr_cuhost_block *block;
    void *const *params;
    int votes;  /* threads at the present barrier whose predicate is not 0 */
    int result; /* votes at the previous barrier */
} soft_fibres;

/*
 * This thread's fibres: at least `count`, with stacks of at least `stack`; NULL if out of memory.
 * (fibre.c)
 */
soft_fibres *soft_fibres_get(unsigned count, size_t stack);

/*
 * soft_fibre_leave() switches from a fibre to the host's stack. soft_fibre_enter() switches from
 * the host's stack to the fibre, and returns when the fibre leaves again. (fibre.c)
 */
void soft_fibre_leave(soft_fibre *f);
void soft_fibre_enter(soft_fibre *f);

/* Frees the fibres of this thread. None of them may be running. (fibre.c) */
void soft_fibres_drop(soft_fibres *set);

#endif
