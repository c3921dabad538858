/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of their own on one thread of the host, one for each thread of a block. A host thread
 * keeps its fibres for later blocks.
 */
#ifndef GR_SOFTCUDA_FIBRE_H
#define GR_SOFTCUDA_FIBRE_H

#include "softcuda/driver/kernel/fibre_place.h"
#include "softcuda/driver/kernel/kernel_run.h"

#include <stdint.h>

/* Inaccessible addresses below each stack: a frame larger than these would step over them. */
#define SOFT_STACK_GUARD ((size_t)1024 * 1024)

enum soft_fibre_state {
    SOFT_FIBRE_ENDED, /* has not begun its thread, or ended it */
    SOFT_FIBRE_RUNS,
    SOFT_FIBRE_AT_BARRIER,
    SOFT_FIBRE_AT_EXCHANGE,
    SOFT_FIBRE_STOPPED, /* in the middle of its thread, for good */
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
    soft_fibre *current; /* NULL while the host's own stack runs */
    unsigned used;       /* by this block */
    const gr_cuhost_kernel *kernel;
    const gr_cuhost_block *block;
    void *const *params;
    int votes;  /* of this round */
    int result; /* of the round before */
} soft_fibres;

/* This thread's fibres, count or more of them, with stacks as large or larger; NULL if there is no
 * memory. (fibre.c) */
soft_fibres *soft_fibres_get(unsigned count, size_t stack);

/* From a fibre to the host's own stack, and back until the fibre does the former. (fibre.c) */
void soft_fibre_leave(soft_fibre *f);
void soft_fibre_enter(soft_fibre *f);

/* Frees this thread's fibres, none of which runs. (fibre.c) */
void soft_fibres_drop(soft_fibres *set);

#endif
