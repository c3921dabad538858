/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The order of a resource: CUDA's last work with it, and the values of its two semaphores. */
#ifndef GR_LIB_SYNC_SYNC_H
#define GR_LIB_SYNC_SYNC_H

#include "lib/resource/backend.h"
#include "lib/sync/semaphore_pair.h"

/* Returns the order of a resource. The cast is valid because no resource is a const object. */
static inline struct gr_sync *gr_sync_of(const gr_resource *resource)
{
    return (struct gr_sync *)&resource->sync;
}

/* Whether submits order the resource; false if the backend issues graphics commands. */
static inline bool gr_sync_is_submitted(const gr_resource *resource)
{
    return resource->backend->is_external && !resource->backend->begin_use;
}

/*
 * For a map of n resources of one CUDA context: makes the stream wait for the last use of each
 * resource.
 */
gr_status gr_sync_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/*
 * For a failed map, whose waits and copies may remain in the stream: keeps the semaphores and the
 * memory alive until the stream has passed them.
 */
void gr_sync_undo_acquire(gr_resource *const resources[], size_t n, CUstream stream);

/* For a release: enqueues signals for n resources. */
gr_status gr_sync_release(gr_resource *const resources[], size_t n, CUstream stream);

/* See signal_in_place() in struct gr_backend. */
void gr_sync_signal_in_place(const struct gr_sync *sync);

/*
 * Records the event of CUDA's last work with an unmapped resource, unless it was recorded before or
 * there is no work. Does not wait. The CUDA context is current.
 */
gr_status gr_sync_record_work(gr_resource *resource, const char *call);

/*
 * Blocks until CUDA's last work with an unmapped resource is done. The CUDA context is current.
 */
gr_status gr_sync_finish_work(gr_resource *resource, const char *call);

/*
 * Returns an event after the last use of an unmapped resource by the graphics API, or by CUDA if
 * CUDA used it later. The caller owns the event; NULL if it is not needed. Does not wait. The CUDA
 * context is current.
 */
gr_status gr_sync_take_last_use(gr_resource *resource, CUevent *event, const char *call);

/* Refuses a resource that has no defined order or is in an open submit. */
gr_status gr_sync_refuse_unready(const gr_resource *resource, const char *call)
    __attribute__((cold));
static inline gr_status gr_sync_check_ready(const gr_resource *resource, const char *call)
{
    const struct gr_sync *sync = gr_sync_of(resource);
    bool ready = (sync->decided || !gr_sync_is_submitted(resource)) && !sync->begun;
    return ready ? GR_OK : gr_sync_refuse_unready(resource, call);
}

/*
 * gr_sync_next_signal() counts the next signal of the graphics API's semaphore and returns its
 * number. For a timeline this number is the value. A binary semaphore can have only one pending
 * signal: GR_ERR_STATE for a second one. gr_sync_skip_signal() cancels a signal that nothing waits
 * for: a binary semaphore can be signalled again; a timeline never uses the skipped value again.
 */
gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number, const char *call);
void gr_sync_skip_signal(gr_semaphore *acquire);

/*
 * Call this function before the graphics API waits for a binary semaphore. Blocks until CUDA has
 * consumed the pending signals that CUDA itself waits for: otherwise the graphics API could consume
 * one of these signals.
 */
gr_status gr_sync_wait_for_retaken(gr_semaphore *release, const char *call);

/*
 * For graphics APIs that take commands on this thread, and n resources with the same semaphores.
 * gr_sync_signal_by_commands() sets *value to the signal of `acquire` that the next map of each
 * resource waits for, or to 0 for a binary semaphore. gr_sync_wait_by_commands() sets *value to the
 * value of `release` that the graphics API must wait for; false if there is nothing to wait for.
 */
gr_status gr_sync_signal_by_commands(gr_resource *const resources[], size_t n, uint64_t *value,
                                     const char *call);
bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value);

/*
 * Blocks until CUDA's last release of n resources of one CUDA context is done, if the graphics API
 * has no semaphore to wait for.
 */
gr_status gr_sync_wait_on_host(gr_resource *const resources[], size_t n);

/*
 * Waits for the last work of an unmapped resource, and sets its semaphores; NULL means none. The
 * order of the resource is then defined. Takes a reference to the pair.
 */
gr_status gr_sync_set(gr_resource *resource, struct gr_semaphore_pair *pair, const char *call);

/* Sets the semaphores of a new resource, which has had no work. */
void gr_sync_begin(struct gr_sync *sync, struct gr_semaphore_pair *pair);

/*
 * Makes the stream wait for the signal of a binary semaphore with this number, which allows only
 * one wait: later streams follow semaphore->passed. The lock of the semaphore is held.
 */
gr_status gr_sync_consume(gr_semaphore *semaphore, uint64_t number, CUstream stream);

/*
 * Whether the semaphore shows when CUDA is done. A binary semaphore does not, because only a
 * timeline can be waited for twice. A semaphore through the host does not: the application may
 * destroy it once the streams have passed its signals. In both cases an event is used instead.
 */
static inline bool gr_sync_tells_the_end(const gr_semaphore *release)
{
    return release && release->timeline && release->handle;
}

/* Refuses a resource that is closed, mapped or in a ring. */
gr_status gr_sync_check_idle(const gr_resource *resource, const char *call);

/*
 * Releases the semaphores. `alive` says whether the CUDA context still exists; if so, it is
 * current.
 */
void gr_sync_end(struct gr_sync *sync, bool alive);

#endif
