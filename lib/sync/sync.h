/* SPDX-License-Identifier: Apache-2.0 */
/* When a resource of external memory changes hands: the points of its two semaphores. */
#ifndef GR_LIB_SYNC_SYNC_H
#define GR_LIB_SYNC_SYNC_H

#include "lib/resource_types.h"
#include "lib/sync/semaphore.h"

struct gr_submit_use;

/* A cache line, since each map and release touches it. */
struct gr_sync {
    gr_semaphore *acquire, *release; /* held, or NULL */
    uint64_t drawn;                  /* acquire's value that the next map waits for; 0: nothing */
    uint64_t computed;               /* release's value that the last release signals */
    struct gr_submit_use *begun;     /* in a submit that has begun; NULL: in none */
    CUstream released_on;
    CUevent done;  /* recorded at a release that no timeline tells of; NULL until there is one */
    bool released; /* it has been mapped and released */
    bool undone;   /* since then a map was taken back: `done` comes after all that it waits for */
    bool decided;  /* it was given semaphores, or none on purpose */
    /* Map and release do the graphics API's part too, which takes commands from their thread. */
    bool by_commands;
    bool of_device; /* the two are the graphics device's, for all of its resources here */
    bool is_new;    /* an image that the graphics API has to hand over before its first map */
};

/* The points of a resource that has some. */
static inline struct gr_sync *gr_sync_of(const gr_resource *resource)
{
    return resource->sync;
}

/* For map: puts what n resources of one CUDA context have to wait for into the stream. */
gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * What gr_sync_acquire() has put into the stream, or a part of it, stays there: the semaphores live
 * until it has passed.
 */
void gr_sync_undo_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/* For release: signals for n resources that the stream has come here. */
gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * An event, the caller's, after the resource's last work, without making the thread wait; *event is
 * NULL if there was none. The CUDA context is current.
 */
gr_status gr_sync_last_work(struct gr_sync *sync, CUevent *event);

/* Refuses a resource whose order is undecided, or that is in a submit which has begun. */
gr_status gr_sync_refuse_unready(const gr_resource *resource, const char *call)
    __attribute__((cold));
static inline gr_status gr_sync_check_ready(const gr_resource *resource, const char *call)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    bool ready = (sync->decided || sync->by_commands) && !sync->begun;
    return ready ? GR_OK : gr_sync_refuse_unready(resource, call);
}

/*
 * The number of the next signal of the graphics API's semaphore, a timeline's value; a binary one
 * has one at a time. The second takes back the one that nobody waits for; a timeline's value is
 * skipped.
 */
gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number, const char *call);
void gr_sync_skip_signal(gr_semaphore *acquire);

/*
 * Before the graphics API is told to wait for a binary semaphore: makes the thread wait until CUDA
 * has taken the signals that are its own, since there is no saying who takes which.
 */
gr_status gr_sync_wait_for_retaken(gr_semaphore *release, const char *call);

/*
 * For graphics APIs that take commands from this thread, and n resources with the same semaphores:
 * a signal of `acquire` that the next map of each waits for, 0 for a binary one; and the value of
 * `release` that the graphics API has to wait for. False: there is nothing to wait for.
 */
gr_status gr_sync_signal_by_commands(gr_resource *const resources[], size_t n, uint64_t *value,
                                     const char *call);
bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value);

/*
 * Makes the thread wait for CUDA's last release of n resources of one CUDA context, where no
 * semaphore tells the graphics API of it.
 */
gr_status gr_sync_wait_on_host(gr_resource *const resources[], size_t n);

/*
 * Gives a resource that is not mapped other semaphores, NULL for none, once its last work is done:
 * its order is decided.
 */
gr_status gr_sync_set(gr_resource *resource, gr_semaphore *acquire, gr_semaphore *release,
                      const char *call);

/*
 * Records the event, which is created at the first use, where the stream is now. The CUDA context
 * is current.
 */
gr_status gr_sync_mark(CUevent *event, CUstream stream);

/*
 * Marks the end of a wait that has taken a binary signal: later streams wait for `passed` instead.
 * After an error the thread waits for the stream.
 */
gr_status gr_sync_mark_taken(gr_semaphore *semaphore, CUstream stream);

/*
 * Whether the semaphore tells when CUDA is done: only a timeline can be waited for twice. Where the
 * host waits, an event does: the application may destroy its semaphore as soon as its streams have
 * passed.
 */
static inline bool gr_sync_tells_the_end(const gr_semaphore *release)
{
    return release && release->timeline && release->handle;
}

/* Whether it has points at all: where commands order the work, submits have nothing to do. */
static inline bool gr_sync_is_submitted(const gr_resource *resource)
{
    return resource->sync && !resource->sync->by_commands;
}

/* Refuses a resource that is closed, mapped or in a ring. */
gr_status gr_sync_check_idle(const gr_resource *resource, const char *call);

/* Lets go of the semaphores; `alive` says whether the CUDA context, then current, still is. */
void gr_sync_end(struct gr_sync *sync, bool alive);

#endif
