/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The order of CUDA and a graphics API: semaphores, pairs of them, the order of a resource, which
 * is CUDA's last work with it and the values of its two semaphores, and submits.
 */
#ifndef GR_LIB_SYNC_SYNC_H
#define GR_LIB_SYNC_SYNC_H

#include <stdatomic.h>

#include <grinterop/semaphore.h>
#include <grinterop/submit.h>

#include "lib/base/compiler.h"
#include "lib/base/cuda_abi.h"
#include "lib/base/lock.h"
#include "lib/cuda/context.h"
#include "lib/cuda/last_work.h"
#include "lib/cuda/end_after_event.h"
#include "lib/cuda/stream_uses.h"
#include "lib/resource/backend.h"

/* ---- Semaphores: semaphore.c ----------------------------------------------------------------- */

/*
 * How streams signal and wait for a kind of semaphore. The points of one call have the same
 * operations and the same CUDA context.
 */
struct gr_semaphore_ops {
    /*
     * These functions enqueue n waits or signals, and record the error. The CUDA context is
     * current.
     */
    gr_status (*wait)(const gr_semaphore_point points[], size_t n, CUstream stream);
    gr_status (*signal)(const gr_semaphore_point points[], size_t n, CUstream stream);
    /* Describes the semaphore, for example "Vulkan timeline semaphore, through the host". */
    void (*describe)(const gr_semaphore *semaphore, char *text, size_t size);
    /* Queries the present value. False if that fails. NULL: the value cannot be queried. */
    bool (*value)(const gr_semaphore *semaphore, uint64_t *now);
    /*
     * For timelines: signals the value from the host, unless the semaphore has already reached it,
     * because a CUDA context has failed and never signals. NULL: the host cannot signal.
     */
    void (*signal_in_place)(gr_semaphore *semaphore, uint64_t value);
    /* gr_semaphore_free(): drops the reference of the caller. NULL: gr_semaphore_drop(). */
    void (*free)(gr_semaphore *semaphore);
    /* Ends an unused semaphore and frees its memory. The CUDA context is current if possible. */
    void (*destroy)(gr_semaphore *semaphore);
};

/* The common part. The struct of each kind begins with it. */
struct gr_semaphore {
    const struct gr_semaphore_ops *ops;
    atomic_uint holds; /* the number of references */
    atomic_uint users; /* the number of resources and open submits that may signal it */
    struct gr_context context;
    CUexternalSemaphore handle; /* NULL if the host waits */
    CUexternalSemaphoreHandleType type;
    bool timeline;
    bool of_application; /* its graphics object may end once the application frees the semaphore */
    gr_semaphore_info info;  /* `handle` and `timeline`, for gr_semaphore_get_info() */
    atomic_bool no_barriers; /* the driver has no memory barriers */
    /* protects the following fields, and keeps signals in order while they are enqueued */
    struct gr_lock lock;
    /* The value of the last signal begun; for a binary semaphore the number of signals. */
    uint64_t signalled;
    /* Binary: the number of the last signal that was waited for. */
    uint64_t waited;
    /* Binary: the number of the last signal by CUDA that the graphics API has waited for. */
    uint64_t handed;
    /*
     * Binary: a CUDA stream waited for the second to last signal, because no submit had. `passed`
     * is that wait.
     */
    bool retaken;
    /* Binary: an open submit will wait for the last signal. */
    bool claimed;
    /* Timelines: the value that a stream waits for in the last map; for messages, no lock. */
    _Atomic uint64_t awaited;
    /* Timelines: the stream of the last signal by CUDA, and its value. */
    CUstream last;
    uint64_t last_value;
    /* Binary: the last wait. Streams that wait for the same signal later wait for its event. */
    struct gr_last_work passed;
    /*
     * The streams of gr_semaphore_signal() and gr_semaphore_wait(). The import ends after their
     * signals and waits are done.
     */
    struct gr_stream_uses uses;
    /* keeps the freed semaphore (end_after_event.h) until the streams in `uses` are done */
    struct gr_ending ending;
};

static inline bool gr_semaphore_is_none(const gr_semaphore *semaphore)
{
    return !semaphore || semaphore == GR_SEMAPHORE_NONE;
}

/*
 * Initialises the common part; the caller has the first reference. On success the semaphore owns
 * the reference to the context. Error: GR_ERR_NO_MEMORY.
 */
gr_status gr_semaphore_init(gr_semaphore *semaphore, const struct gr_semaphore_ops *ops,
                            const struct gr_context *context, bool timeline, uint64_t value);

/*
 * Imports `info` into `semaphore`, which is zeroed memory of the caller. `ops` has the operations
 * of a kind, or is NULL; ops->destroy() is called after the import has ended. On success the
 * semaphore owns the reference to the context. After an error, which is recorded, the caller still
 * owns the memory and the reference.
 */
gr_status gr_semaphore_make(gr_semaphore *semaphore, const struct gr_context *context,
                            const gr_semaphore_desc *info, const struct gr_semaphore_ops *ops);

/*
 * These functions add and drop a reference of the library, besides the reference of the caller.
 * NULL is allowed.
 *
 * Signals and waits of gr_semaphore_enqueue() must be done before the last reference is dropped.
 * Until signals and waits of gr_semaphore_signal() and gr_semaphore_wait() are done, the semaphore
 * keeps itself alive.
 */
static inline void gr_semaphore_hold(gr_semaphore *semaphore)
{
    if (semaphore)
        atomic_fetch_add_explicit(&semaphore->holds, 1, memory_order_relaxed);
}
void gr_semaphore_drop(gr_semaphore *semaphore);

/* Add and drop the reference of a resource or of an open submit, and count it in `users`. */
static inline void gr_semaphore_begin_use(gr_semaphore *semaphore)
{
    gr_semaphore_hold(semaphore);
    if (semaphore)
        atomic_fetch_add_explicit(&semaphore->users, 1, memory_order_relaxed);
}
void gr_semaphore_end_use(gr_semaphore *semaphore);

/* Returns the value of the last signal begun; for a binary semaphore the number of signals. */
uint64_t gr_semaphore_last(const gr_semaphore *semaphore);

/*
 * Describes a semaphore that CUDA's last work may wait for, in a sentence that begins with a space:
 * the value that the semaphore will reach and, if it can be queried, its present value. "" for NULL
 * and GR_SEMAPHORE_NONE.
 */
void gr_semaphore_describe_wait(const gr_semaphore *semaphore, char *text, size_t size);

/* ---- Signals and waits in streams: semaphore_points.c ---------------------------------------- */

/*
 * The number of points per driver call. Few, so that the arrays of the usual call, which has one
 * point, stay in the CPU cache.
 */
#define GR_POINTS_AT_ONCE 16

/*
 * The operations wait() and signal() of imported semaphores. All kinds that are imported into CUDA
 * use them.
 */
gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream);
gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n,
                                       CUstream stream);

/* Enqueues waits or signals of semaphores of one CUDA context, which is current. */
gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream);

/*
 * Makes the stream wait for the signal of a binary semaphore with this number, which allows only
 * one wait: later streams follow semaphore->passed. The lock of the semaphore is held.
 */
gr_status gr_sync_consume(gr_semaphore *semaphore, uint64_t number, CUstream stream);

/* The same for a signal that may have been waited for. The lock is free. */
gr_status gr_sync_wait_binary(gr_semaphore *semaphore, uint64_t number, CUstream stream);

/*
 * Creates an event after all points and the event `earlier`, which may be NULL; the caller owns the
 * new event. It is recorded in a temporary stream, because the streams of the points may no longer
 * exist. NULL after an error. The CUDA context is current.
 */
gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent earlier,
                                   CUevent *event);

/* ---- Checks: semaphore_rules.c --------------------------------------------------------------- */

/* Refuses a freed semaphore, unless a resource or a submit has it, and so may name it. */
gr_status gr_semaphore_check_given(const gr_semaphore *semaphore);

/* The rules of the CUDA documentation, by type. */
GR_API gr_status gr_semaphore_check(const gr_semaphore_desc *info);
bool gr_semaphore_type_counts(CUexternalSemaphoreHandleType type);
const char *gr_semaphore_type_name(CUexternalSemaphoreHandleType type);
void gr_semaphore_handle_desc(const gr_semaphore_desc *info,
                              CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);

/*
 * gr_semaphore_check_point() checks that a point has the fields of its semaphore's type, and no
 * other fields. The other functions convert a checked point to the driver's struct.
 */
gr_status gr_semaphore_check_point(const gr_semaphore_point *point, bool is_wait);
void gr_semaphore_signal_params(const gr_semaphore_point *point,
                                CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params);
void gr_semaphore_wait_params(const gr_semaphore_point *point,
                              CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params);

/* Records a refused import, with the meaning of the code for this type and the remedy. */
GR_API gr_status gr_semaphore_refused(const gr_semaphore_desc *info, CUresult code);

/* ---- Pairs of semaphores: semaphore_pair.c --------------------------------------------------- */

/*
 * Two semaphores that order resources: the graphics API signals `acquire`, and CUDA signals
 * `release`. A Vulkan device, an OpenGL context and a ring each have such a pair for their
 * resources, the application sets one for a resource, and a shared ring has one for its two
 * processes.
 */
struct gr_semaphore_pair {
    gr_semaphore *acquire, *release; /* references, or NULL */
    atomic_uint holds;               /* the number of references to the pair */
    bool of_device; /* of a Vulkan device or OpenGL context of this process: never sent */
    /* Frees the struct that begins with the pair. NULL: free(). */
    void (*end)(struct gr_semaphore_pair *pair);
};

/*
 * Makes a pair with one reference. Takes over the references to the semaphores, which may be NULL,
 * also after an error. If out of memory, records the error and returns NULL.
 */
struct gr_semaphore_pair *gr_pair_make(gr_semaphore *acquire, gr_semaphore *release);

/*
 * The same with two semaphores that were just created. If one of them is NULL, because its creation
 * failed and recorded an error, returns NULL.
 */
struct gr_semaphore_pair *gr_pair_of_new(gr_semaphore *acquire, gr_semaphore *release);

/* These functions add and drop a reference. NULL is allowed. gr_pair_hold() returns the pair. */
static inline struct gr_semaphore_pair *gr_pair_hold(struct gr_semaphore_pair *pair)
{
    if (pair)
        atomic_fetch_add_explicit(&pair->holds, 1, memory_order_relaxed);
    return pair;
}
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

/* ---- The order of a resource: sync.c, acquire.c, release.c, graphics.c ----------------------- */

static inline bool gr_sync_is_submitted(const gr_resource *resource)
{
    return resource->backend->ordered_by_submits;
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

/* Signals all values up to that of a release. See signal_in_place() in struct gr_backend. */
void gr_sync_signal_in_place(const struct gr_sync *sync, uint64_t value);

/*
 * Whether the graphics API has not signalled its last use, if that can be queried after the
 * application has freed its objects.
 */
bool gr_sync_is_drawn(const struct gr_sync *sync);

/*
 * Records the event of CUDA's last work with an unmapped resource, unless it was recorded before or
 * there is no work. Does not wait. The CUDA context is current.
 */
gr_status gr_sync_record_work(gr_resource *resource);

/*
 * The same for the end of an unmapped resource: if submits copy it, and signal a semaphore that
 * gr_sync_is_drawn() cannot query, the event also follows the submits.
 */
gr_status gr_sync_record_end(gr_resource *resource);

/*
 * Blocks until CUDA's last work with an unmapped resource is done. The CUDA context is current.
 */
gr_status gr_sync_finish_work(gr_resource *resource);

/*
 * Call this function before the driver call that ends an import, which blocks until all work in the
 * CUDA context is done. If a stream waits for graphics work, logs a warning after 2 s, because the
 * driver call may then never return.
 */
void gr_sync_warn_of_wait(const struct gr_sync *sync, const struct gr_context *context);

/*
 * Returns an event after the last use of an unmapped resource by the graphics API, or by CUDA if
 * CUDA used it later; with frames in flight after both. The caller owns the event; NULL if it is
 * not needed. Does not wait. The CUDA context is current.
 */
gr_status gr_sync_take_last_use(gr_resource *resource, CUevent *event);

/* Gives the resource the semaphores of its backend, unless its order is defined. */
static inline gr_status gr_sync_decide(gr_resource *resource)
{
    return resource->sync.decided || !resource->backend->begin_order
               ? GR_OK
               : resource->backend->begin_order(resource);
}

/*
 * Refuses a resource that is in an open submit, or has no defined order even after
 * gr_sync_decide().
 */
gr_status gr_sync_make_ready(gr_resource *resource) GR_COLD;
static inline gr_status gr_sync_check_ready(gr_resource *resource)
{
    const struct gr_sync *sync = &resource->sync;
    bool ready = (sync->decided || !gr_sync_is_submitted(resource)) &&
                 !atomic_load_explicit(&sync->begun, memory_order_relaxed);
    return ready ? GR_OK : gr_sync_make_ready(resource);
}

/*
 * gr_sync_next_signal() counts the next signal of the graphics API's semaphore and returns its
 * number. For a timeline this number is the value. A binary semaphore can have only one pending
 * signal: GR_ERR_STATE for a second one. gr_sync_skip_signal() cancels a signal that nothing waits
 * for: a binary semaphore can be signalled again; a timeline never uses the skipped value again.
 */
gr_status gr_sync_next_signal(gr_semaphore *acquire, uint64_t *number);
void gr_sync_skip_signal(gr_semaphore *acquire);

/*
 * Call this function before the graphics API waits for a binary semaphore. Blocks until CUDA has
 * consumed the pending signals that CUDA itself waits for: otherwise the graphics API could consume
 * one of these signals.
 */
gr_status gr_sync_wait_for_retaken(gr_semaphore *release);

/*
 * For graphics APIs that take commands on this thread, and n resources with the same semaphores:
 * sets *value to the value of `release` that the graphics API must wait for, or to 0 for a binary
 * semaphore; false if there is nothing to wait for. gr_sync_skip_wait() takes it back.
 */
bool gr_sync_wait_by_commands(gr_resource *const resources[], size_t n, uint64_t *value);
void gr_sync_skip_wait(gr_semaphore *release);

/*
 * Waits for the last work of an unmapped resource, and sets its semaphores; NULL means none. The
 * order of the resource is then defined. Takes a reference to the pair.
 */
gr_status gr_sync_set(gr_resource *resource, struct gr_semaphore_pair *pair);

/* Sets the semaphores of a new resource, which has had no work. */
void gr_sync_begin(struct gr_sync *sync, struct gr_semaphore_pair *pair);

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
gr_status gr_sync_check_idle(const gr_resource *resource);

/*
 * Releases the semaphores. `alive` says whether the CUDA context still exists; if so, it is
 * current.
 */
void gr_sync_end(struct gr_sync *sync, bool alive);

/* ---- Submits of the graphics API, for rings and resources: submit.c -------------------------- */

/* gr_submit_begin() for another public function, which errors name. */
gr_submit *gr_submit_start(gr_resource *const resources[], size_t n);

/*
 * Like gr_submit_begin(), for n different, checked resources. If they are slots of a ring, the ring
 * frees the submit, and gr_submit_free() refuses it.
 */
gr_submit *gr_submit_make(gr_resource *const resources[], size_t n, bool of_ring);

/* Commits a checked submit. Accepts frames in flight, which gr_vk_submit() has copied. */
gr_status gr_submit_settle_all(gr_submit *submit);

/*
 * Refuses frames in flight for a call that records commands of the application, or commits its
 * submit: the commands would name one staging buffer, which only gr_vk_submit() selects.
 */
gr_status gr_submit_refuse_in_flight(const gr_resource *resource);

/*
 * Removes a resource from the submit when the ring gets the resource back. If the submit was not
 * committed, it is undone for this resource. The last resource frees the submit.
 */
void gr_submit_settle(gr_submit *submit, const gr_resource *resource);

/*
 * Records that the program received the semaphores. Freeing the submit without a commit is then
 * logged as a warning.
 */
void gr_submit_filled(gr_submit *submit);

/* Whether a live submit was committed. */
bool gr_submit_is_committed(gr_submit *submit);

/* The resources that are in a submit. Valid until the next list, or the end of the submit. */
struct gr_submit_list {
    const gr_resource *const *at;
    size_t count;
};

/*
 * Checks before a commit, and lists the resources: those that left the submit are missing.
 * GR_ERR_STATE if the submit was committed, GR_ERR_INVALID_VALUE for NULL.
 */
gr_status gr_submit_check_begun(gr_submit *submit, struct gr_submit_list *list);

/*
 * Returns memory that belongs to the submit, with undefined contents. It is valid until the next
 * call, and submits in a loop reuse it. If out of memory, records the error and returns NULL.
 */
void *gr_submit_scratch(gr_submit *submit, size_t size);

/* Removes a resource from its submit, if it is in one. Called before the resource ends. */
void gr_submit_leave(struct gr_sync *sync);

#endif
