/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The struct of semaphores, for files of the library: the part that all kinds have in common. */
#ifndef GR_LIB_SYNC_SEMAPHORE_TYPES_H
#define GR_LIB_SYNC_SEMAPHORE_TYPES_H

#include <cuda.h>
#include <pthread.h>

#include <grinterop/semaphore.h>

#include "lib/cuda/context.h"
#include "lib/cuda/last_work.h"
#include "lib/cuda/end_after_event.h"
#include "lib/cuda/stream_uses.h"

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
    /* Ends an unused semaphore and frees its memory. The CUDA context is current if possible. */
    void (*destroy)(gr_semaphore *semaphore);
};

/* The common part. The struct of each kind begins with it. */
struct gr_semaphore {
    const struct gr_semaphore_ops *ops;
    unsigned holds; /* the number of references; atomic */
    unsigned users; /* the number of resources and open submits that may signal it; atomic */
    struct gr_context context;
    CUexternalSemaphore handle; /* NULL if the host waits */
    CUexternalSemaphoreHandleType type;
    bool timeline;
    gr_semaphore_info info; /* `handle` and `timeline`, for gr_semaphore_get_info() */
    bool no_barriers;       /* the driver has no memory barriers; atomic */
    /* protects the following fields, and keeps signals in order while they are enqueued */
    pthread_mutex_t lock;
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

#endif
