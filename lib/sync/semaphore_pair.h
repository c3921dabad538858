/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Two semaphores that order resources: the graphics API signals `acquire`, and CUDA signals
 * `release`. A Vulkan device, an OpenGL context and a ring each have such a pair for their
 * resources, the application sets one for a resource, and a shared ring has one for its two
 * processes.
 */
#ifndef GR_LIB_SYNC_SEMAPHORE_PAIR_H
#define GR_LIB_SYNC_SEMAPHORE_PAIR_H

#include "lib/sync/semaphore.h"

struct gr_semaphore_pair {
    gr_semaphore *acquire, *release; /* references, or NULL */
    unsigned holds;                  /* the number of references to the pair; atomic */
    bool of_device; /* of a Vulkan device or OpenGL context of this process: never sent */
    /* Frees the struct that begins with the pair. NULL: free(). */
    void (*end)(struct gr_semaphore_pair *pair);
};

/*
 * Makes a pair with one reference. Takes over the references to the semaphores, which may be NULL,
 * also after an error. If out of memory, records the error and returns NULL.
 */
struct gr_semaphore_pair *gr_pair_make(gr_semaphore *acquire, gr_semaphore *release,
                                       const char *call);

/*
 * The same with two semaphores that were just created. If one of them is NULL, because its creation
 * failed and recorded an error, returns NULL.
 */
struct gr_semaphore_pair *gr_pair_of_new(gr_semaphore *acquire, gr_semaphore *release,
                                         const char *call);

/* These functions add and drop a reference. NULL is allowed. gr_pair_hold() returns the pair. */
struct gr_semaphore_pair *gr_pair_hold(struct gr_semaphore_pair *pair);
void gr_pair_drop(struct gr_semaphore_pair *pair);

/* Adds a reference, unless the last one has been dropped: then the result is false. */
bool gr_pair_hold_living(struct gr_semaphore_pair *pair);

/* Drops the semaphores of a pair. */
void gr_pair_clear(struct gr_semaphore_pair *pair);

/*
 * The number of resources and open submits that may signal one of the two semaphores. The
 * semaphores count them, because the application may set one semaphore in several pairs.
 */
unsigned gr_pair_users(const struct gr_semaphore_pair *pair);

#endif
