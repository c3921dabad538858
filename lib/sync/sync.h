/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The order of a resource in external memory: the points of its two semaphores. */
#ifndef GR_LIB_SYNC_SYNC_H
#define GR_LIB_SYNC_SYNC_H

#include "lib/resource_types.h"
#include "lib/sync/semaphore.h"

struct gr_submit_use;

/* One cache line, because each map and release uses it. */
struct gr_sync {
    gr_semaphore *acquire, *release; /* held, or NULL */
    uint64_t drawn;                  /* acquire's value that the next map waits for; 0: none */
    uint64_t computed;               /* release's value that the last release signals */
    struct gr_submit_use *begun;     /* in an open submit, or NULL */
    CUstream released_on;
    CUevent done;  /* recorded at releases without a timeline; NULL until there is one */
    bool released; /* it has been mapped and released */
    bool undone;  /* since then a map was undone: `done` comes after everything that it waits for */
    bool decided; /* its order is defined: semaphores, or explicitly none */
    /* Map and release also enqueue commands for the graphics API, on its thread. */
    bool by_commands;
    bool of_device; /* the two belong to the graphics device, for all of its resources here */
    bool is_new;    /* the graphics API must hand it over before its first map */
    bool copies;    /* maps and releases also enqueue copies */
    bool owes;      /* a release copied bytes that no committed submit has taken back */
};

/* The points of a resource, if it has any. */
static inline struct gr_sync *gr_sync_of(const gr_resource *resource)
{
    return resource->sync;
}

/* For a map: makes the stream wait for what n resources of one CUDA context have to wait for. */
gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * A failed map leaves waits of gr_sync_acquire(), and copies, in the stream: keeps the semaphores
 * and the memory alive until they have passed.
 */
void gr_sync_undo_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/* For a release: enqueues signals for n resources. */
gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * An event after the resource's last work, owned by the caller, without a wait; *event is NULL if
 * there was none. The CUDA context is current.
 */
gr_status gr_sync_last_work(struct gr_sync *sync, CUevent *event);

/* Refuses a resource without a defined order, or in an open submit. */
gr_status gr_sync_refuse_unready(const gr_resource *resource, const char *call)
    __attribute__((cold));
static inline gr_status gr_sync_check_ready(const gr_resource *resource, const char *call)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    bool ready = (sync->decided || sync->by_commands) && !sync->begun;
    return ready ? GR_OK : gr_sync_refuse_unready(resource, call);
}

/*
 * The number of the next signal of the graphics API's semaphore: the value of a timeline; a binary
 * semaphore has one pending signal. The second undoes a signal that nothing waits for; the value of
 * a timeline is skipped.
 */
gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number, const char *call);
void gr_sync_skip_signal(gr_semaphore *acquire);

/*
 * Before the graphics API waits for a binary semaphore: blocks until CUDA has consumed its own
 * pending signals, because either side could consume them.
 */
gr_status gr_sync_wait_for_retaken(gr_semaphore *release, const char *call);

/*
 * For graphics APIs with commands on this thread, and n resources with the same semaphores: the
 * signal of `acquire` that the next map of each waits for, 0 for a binary semaphore; and the value
 * of `release` that the graphics API must wait for. False: nothing to wait for.
 */
gr_status gr_sync_signal_by_commands(gr_resource *const resources[], size_t n, uint64_t *value,
                                     const char *call);
bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value);

/*
 * Blocks until CUDA's last release of n resources of one CUDA context is done, if no semaphore
 * tells the graphics API.
 */
gr_status gr_sync_wait_on_host(gr_resource *const resources[], size_t n);

/*
 * Sets the semaphores of an unmapped resource, NULL for none, once its last work is done: its order
 * is then defined.
 */
gr_status gr_sync_set(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release,
                      const char *call);

/* Records the event, which is created at the first use. The CUDA context is current. */
gr_status gr_sync_mark(CUevent *event, CUstream stream);

/*
 * Marks the end of a wait that consumed a binary signal: later streams wait for `passed` instead.
 * After an error the thread waits for the stream.
 */
gr_status gr_sync_mark_taken(gr_semaphore *semaphore, CUstream stream);

/*
 * Whether the semaphore shows when CUDA is done: only a timeline can be waited for twice. If the
 * host waits, an event is used instead, because the application may destroy its semaphore once its
 * streams have passed.
 */
static inline bool gr_sync_tells_the_end(const gr_semaphore *release)
{
    return release && release->timeline && release->handle;
}

/* Whether submits order it: not if commands do. */
static inline bool gr_sync_is_submitted(const gr_resource *resource)
{
    return resource->sync && !resource->sync->by_commands;
}

/* Refuses a resource that is closed, mapped or in a ring. */
gr_status gr_sync_check_idle(const gr_resource *resource, const char *call);

/*
 * Releases the semaphores; `alive` says whether the CUDA context, which is then current, still
 * exists.
 */
void gr_sync_end(struct gr_sync *sync, bool alive);

#endif
