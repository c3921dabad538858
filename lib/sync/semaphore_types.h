/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores as the library's own files see them: what all kinds have in common. */
#ifndef GR_LIB_SYNC_SEMAPHORE_TYPES_H
#define GR_LIB_SYNC_SEMAPHORE_TYPES_H

#include <pthread.h>

#include <grinterop/semaphore.h>

#include "lib/context.h"
#include "lib/retire.h"
#include "lib/told.h"

/* How a stream signals and waits. Points of one call have the same operations and CUDA context. */
struct gr_semaphore_ops {
    /* Puts n waits or signals into the stream; records the error. The CUDA context is current. */
    gr_status (*wait)(const gr_semaphore_point points[], size_t n, CUstream stream);
    gr_status (*signal)(const gr_semaphore_point points[], size_t n, CUstream stream);
    /* What it is, for example "Vulkan timeline semaphore, through the host". */
    void (*describe)(const gr_semaphore *semaphore, char *text, size_t size);
    /*
     * Ends it and frees its memory; nothing uses it any more. The CUDA context is current if it can
     * be.
     */
    void (*destroy)(gr_semaphore *semaphore);
};

/* The common part; a kind's own struct begins with one. */
struct gr_semaphore {
    const struct gr_semaphore_ops *ops;
    unsigned holds; /* changed atomically */
    struct gr_context context;
    CUexternalSemaphore handle; /* NULL where the host waits */
    CUexternalSemaphoreHandleType type;
    bool timeline;
    bool no_barriers;     /* the driver refused one; changed atomically */
    pthread_mutex_t lock; /* for what follows, and so that signals are put into streams in order */
    /* The value of the last signal that was begun; of a binary one their number. */
    uint64_t signalled;
    /* Binary: the number of the last signal that was waited for. */
    uint64_t waited;
    /* Binary: the number of CUDA's last signal that the graphics API has waited for. */
    uint64_t handed;
    /* Binary: CUDA itself waits for the signal before the last one, up to `passed`. */
    bool retaken;
    /* Binary: a submit that has begun is going to wait for the last signal. */
    bool claimed;
    /* The stream of CUDA's last signal, or of a binary one's last wait. */
    CUstream last;
    /* Timelines: the value of CUDA's last signal. */
    uint64_t last_value;
    /* Binary: recorded after the last wait; NULL until there is one. */
    CUevent passed;
    /* The streams that have points by hand, which the driver wants done before the import ends. */
    struct gr_told_list told;
    struct gr_retired retired; /* with `context`, once it is set aside for them */
};

static inline bool gr_semaphore_is_none(const gr_semaphore *semaphore)
{
    return !semaphore || semaphore == GR_SEMAPHORE_NONE;
}

#endif
