/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The internal struct of a submit, and its memory. */
#ifndef GR_LIB_SYNC_SUBMIT_MEMORY_H
#define GR_LIB_SYNC_SUBMIT_MEMORY_H

#include <grinterop/submit.h>

/* A resource in a submit. */
struct gr_submit_use {
    const gr_resource *resource; /* compared only; NULL once a ring has it back */
    struct gr_sync *sync;        /* NULL once its points are copied, or it has left */
    uint64_t number;             /* of the signal that its next map waits for; 0: none */
};

struct gr_submit_made {
    gr_submit shown; /* the part that the caller sees */
    struct gr_submit_made *next_spare;
    bool over;    /* committed or undone */
    bool made;    /* for at least one resource */
    bool filled;  /* its semaphores were given to the program for a submit of its own */
    size_t count; /* of `uses` */
    size_t left;  /* resources that the ring does not have back */
    size_t room;  /* of each array; all are one allocation */
    struct gr_submit_use *uses;
    gr_semaphore **waits, **signals;
    uint64_t *wait_values, *signal_values;
    uint64_t *waited_before; /* of the binary semaphores among `waits` */
    void *scratch;           /* for the submitting API */
    size_t scratch_size;
};

/* An empty submit with room for n resources. NULL, with the error, if out of memory. */
struct gr_submit_made *gr_submit_memory_take(size_t n, const char *call);

/* Keeps the memory for another submit, or frees it. */
void gr_submit_memory_give(struct gr_submit_made *s);

#endif
