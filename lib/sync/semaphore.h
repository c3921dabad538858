/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores as the library's own files see them: what all have in common, and how streams use
 * them.
 */
#ifndef GR_LIB_SYNC_SEMAPHORE_H
#define GR_LIB_SYNC_SEMAPHORE_H

#include <pthread.h>

#include <grinterop/semaphore.h>

#include "lib/context.h"

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
    uint64_t
        signalled;   /* the value of the last signal that was begun; of a binary one their number */
    uint64_t waited; /* binary: the number of the last signal that was waited for */
    CUstream last;   /* the stream of CUDA's last signal, or of a binary one's last wait */
    CUevent passed;  /* binary: recorded after the last wait; NULL until there is one */
};

/*
 * Makes the common part ready, held by the caller. On success it owns the context's hold.
 * GR_ERR_NO_MEMORY.
 */
gr_status gr_semaphore_init(gr_semaphore *semaphore, const struct gr_semaphore_ops *ops,
                            const struct gr_context *context, bool timeline, uint64_t value);

/*
 * Imports `info` into `semaphore`, which is zeroed memory of the caller's; `ops` is NULL or a
 * kind's own, whose destroy() is called after the import has ended. On success it owns the
 * context's hold; after an error, which is recorded, the caller still has both.
 */
gr_status gr_semaphore_make(gr_semaphore *semaphore, const struct gr_context *context,
                            const gr_semaphore_info *info, const struct gr_semaphore_ops *ops,
                            const char *call);

void gr_semaphore_hold(gr_semaphore *semaphore);

/* The driver's external semaphores: wait() and signal() for kinds that add to them. */
gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream);
gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n,
                                       CUstream stream);

/* Puts waits or signals of any semaphores of one CUDA context, then current, into the stream. */
gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream);

/*
 * An event, the caller's, after all of the points, recorded on a stream of its own: those that the
 * points come from may be gone. NULL after an error. The CUDA context is current.
 */
gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent *event);

/* ---- The rules of the handle types (semaphore_rules.c) --------------------------------------- */

gr_status gr_semaphore_check(const gr_semaphore_info *info, const char *call);
bool gr_semaphore_type_counts(CUexternalSemaphoreHandleType type);
const char *gr_semaphore_type_name(CUexternalSemaphoreHandleType type);
void gr_semaphore_handle_desc(const gr_semaphore_info *info,
                              CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc);

/* Whether a point has the fields that its semaphore's type wants, and no others. */
gr_status gr_semaphore_check_point(const gr_semaphore_point *point, bool is_wait, const char *call);
void gr_semaphore_signal_params(const gr_semaphore_point *point,
                                CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params);
void gr_semaphore_wait_params(const gr_semaphore_point *point,
                              CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params);

/*
 * Records the driver's refusal of an import: what the code means for this handle type, and the way
 * out.
 */
gr_status gr_semaphore_refused(const gr_semaphore_info *info, CUresult code, const char *call);

#endif
