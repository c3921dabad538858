/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The struct of semaphores, for the library's own files: the part that all kinds share. */
#ifndef GR_LIB_SYNC_SEMAPHORE_TYPES_H
#define GR_LIB_SYNC_SEMAPHORE_TYPES_H

#include <cuda.h>
#include <pthread.h>

#include <grinterop/semaphore.h>

#include "lib/context.h"
#include "lib/retire.h"
#include "lib/told.h"

/*
 * How a stream signals and waits. The points of one call have the same operations and CUDA context.
 */
struct gr_semaphore_ops {
    /* Enqueue n waits or signals; record the error. The CUDA context is current. */
    gr_status (*wait)(const gr_semaphore_point points[], size_t n, CUstream stream);
    gr_status (*signal)(const gr_semaphore_point points[], size_t n, CUstream stream);
    /* Describes it, for example "Vulkan timeline semaphore, through the host". */
    void (*describe)(const gr_semaphore *semaphore, char *text, size_t size);
    /* Ends an unused semaphore and frees its memory. The CUDA context is current if possible. */
    void (*destroy)(gr_semaphore *semaphore);
};

/* The common part, with which the struct of a kind begins. */
struct gr_semaphore {
    const struct gr_semaphore_ops *ops;
    unsigned holds; /* atomic */
    struct gr_context context;
    CUexternalSemaphore handle; /* NULL if the host waits */
    CUexternalSemaphoreHandleType type;
    bool timeline;
    gr_semaphore_info info; /* `handle` and `timeline`, for the application */
    bool no_barriers;       /* the driver has none; atomic */
    pthread_mutex_t lock;   /* for the following fields, and to enqueue signals in order */
    /* The value of the last signal begun; for a binary semaphore the number of signals. */
    uint64_t signalled;
    /* Binary: the number of the last signal that was waited for. */
    uint64_t waited;
    /* Binary: the number of CUDA's last signal that the graphics API has waited for. */
    uint64_t handed;
    /* Binary: CUDA itself waits for the signal before the last one, up to `passed`. */
    bool retaken;
    /* Binary: an open submit will wait for the last signal. */
    bool claimed;
    /* The stream of CUDA's last signal, or of a binary semaphore's last wait. */
    CUstream last;
    /* Timelines: the value of CUDA's last signal. */
    uint64_t last_value;
    /* Binary: recorded after the last wait; NULL until there is one. */
    CUevent passed;
    /* The streams with explicit points, which must be done before the import ends. */
    struct gr_told_list told;
    struct gr_retired retired; /* with `context`, while it waits for them */
};

static inline bool gr_semaphore_is_none(const gr_semaphore *semaphore)
{
    return !semaphore || semaphore == GR_SEMAPHORE_NONE;
}

#endif
