/* SPDX-License-Identifier: Apache-2.0 */
/* When a resource of external memory changes hands: the points of its two semaphores. */
#ifndef GR_LIB_SYNC_ACQUIRE_RELEASE_H
#define GR_LIB_SYNC_ACQUIRE_RELEASE_H

#include "lib/resource_types.h"
#include "lib/sync/semaphore.h"

struct gr_sync {
    /* Map and release do the graphics API's part too, which takes commands from their thread. */
    bool by_commands;
    gr_semaphore *acquire, *release; /* held, or NULL */
    uint64_t drawn;                  /* acquire's value that the next map waits for; 0: nothing */
    uint64_t drawn_before;           /* what `drawn` was before the last submit was begun */
    uint64_t computed;               /* release's value that the last release signals */
    bool released;                   /* it has been mapped and released */
    CUstream released_on;
    CUevent done; /* recorded at a release that no timeline tells of; NULL until there is one */
};

/* The points of a resource that has some. */
static inline struct gr_sync *gr_sync_of(const gr_resource *resource)
{
    return resource->sync;
}

/* For map: puts what n resources of one CUDA context have to wait for into the stream. */
gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/* For release: signals for n resources that the stream has come here. */
gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * An event, the caller's, after the resource's last work, without making the thread wait; *event is
 * NULL if there was none. The CUDA context is current.
 */
gr_status gr_sync_last_work(struct gr_sync *sync, CUevent *event);

/*
 * The two halves of gr_submit_begin(), for resources that were checked and have the same
 * semaphores: which signal the next map waits for, and which of CUDA's the graphics API waits for.
 */
gr_status gr_sync_begin_signal(gr_resource *const resources[], size_t n, gr_submit *submit,
                               const char *call);
void gr_sync_begin_wait(gr_resource *const resources[], size_t n, gr_submit *submit);

/*
 * Makes the thread wait for CUDA's last release of n resources of one CUDA context, where no
 * semaphore tells the graphics API of it.
 */
gr_status gr_sync_wait_on_host(gr_resource *const resources[], size_t n);

/* Gives a resource that is not mapped other semaphores, once its last work is done. */
gr_status gr_sync_set(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release,
                      const char *call);

/* Lets go of the semaphores; `alive` says whether the CUDA context, then current, still is. */
void gr_sync_end(struct gr_sync *sync, bool alive);

#endif
