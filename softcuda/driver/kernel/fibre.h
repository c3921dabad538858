/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Fibres: several stacks on one host thread, one for each thread of a block. A host thread keeps
 * its fibres for later blocks.
 */
#ifndef GR_SOFTCUDA_FIBRE_H
#define GR_SOFTCUDA_FIBRE_H

#include "softcuda/driver/kernel/fibre_place.h"
#include "softcuda/driver/kernel/kernel_run.h"

#include <stdint.h>

/* Inaccessible bytes below each stack. A larger frame would step over them. */
#define SOFT_STACK_GUARD ((size_t)1024 * 1024)

enum soft_fibre_state {
    SOFT_FIBRE_ENDED, /* has not started its thread, or has ended it */
    SOFT_FIBRE_RUNS,
    SOFT_FIBRE_AT_BARRIER,
    SOFT_FIBRE_AT_EXCHANGE,
    SOFT_FIBRE_STOPPED, /* in the middle of its thread, permanently */
};

/* What a fibre waits for at an exchange. */
typedef struct {
    unsigned mask;
    unsigned came;
    const void *site; /* the call */
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
    unsigned char *stacks; /* each above its guard */
    size_t stack_size;
    bool guarded;
    soft_place host;
    soft_fibre *current; /* NULL while the host's stack runs */
    unsigned used;       /* by this block */
    const gr_cuhost_kernel *kernel;
    const gr_cuhost_block *block;
    void *const *params;
    int votes;  /* of this round */
    int result; /* of the round before */
} soft_fibres;

/*
 * This thread's fibres: at least `count`, with stacks of at least `stack`; NULL if memory is out.
 * (fibre.c)
 */
soft_fibres *soft_fibres_get(unsigned count, size_t stack);

/*
 * Switch from a fibre to the host's stack, and from there to the fibre until it leaves again.
 * (fibre.c)
 */
void soft_fibre_leave(soft_fibre *f);
void soft_fibre_enter(soft_fibre *f);

/* Frees this thread's fibres, none of which is running. (fibre.c) */
void soft_fibres_drop(soft_fibres *set);

#endif
