/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The internal struct of a submit, and its memory. */
#ifndef GR_LIB_SYNC_SUBMIT_MEMORY_H
#define GR_LIB_SYNC_SUBMIT_MEMORY_H

#include <stdatomic.h>

#include <grinterop/submit.h>

/* A resource in a submit. */
struct gr_submit_use {
    const gr_resource *resource; /* for comparisons only; NULL once a ring has the resource back */
    /* NULL once its values are copied, or once the resource has left the submit */
    struct gr_sync *sync;
    /* the number of the signal that the next map of the resource waits for; 0: none */
    uint64_t number;
};

struct gr_submit_made {
    gr_submit shown; /* the part that the caller sees */
    struct gr_submit_made *next_spare;
    atomic_bool out; /* the submit is in use, not spare */
    bool of_ring;    /* a ring owns the submit, so the caller does not free it */
    bool committed;
    bool filled;  /* the program received the semaphores, for its own submit */
    size_t count; /* the number of `uses` */
    size_t room;  /* the size of each array; all arrays are one allocation */
    struct gr_submit_use *uses;
    gr_semaphore **waits, **signals;
    const gr_resource **list; /* of gr_submit_list */
    uint64_t *wait_values, *signal_values;
    /* for each binary semaphore in `waits`: the value of its field `waited` before this submit */
    uint64_t *waited_before;
    void *scratch; /* memory for the API that submits */
    size_t scratch_size;
};

/*
 * Returns an empty submit with room for n resources. If out of memory, records the error and
 * returns NULL.
 */
struct gr_submit_made *gr_submit_memory_take(size_t n);

/* Keeps the memory for another submit, or frees it. */
void gr_submit_memory_give(struct gr_submit_made *s);

#endif
