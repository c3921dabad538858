/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores as the library's own files see them: what all have in common, and how streams use
 * them.
 */
#ifndef GR_LIB_SYNC_SEMAPHORE_H
#define GR_LIB_SYNC_SEMAPHORE_H

#include <grinterop/semaphore.h>

#include "lib/sync/semaphore_types.h"

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
                            const gr_semaphore_desc *info, const struct gr_semaphore_ops *ops,
                            const char *call);

/*
 * A hold of the library's own beside the caller's, and the end of one. NULL is fine for the end.
 * What gr_semaphore_enqueue() put into streams has to be done before the last hold goes. The
 * semaphore outlives the points of gr_semaphore_signal() and gr_semaphore_wait() by itself.
 */
void gr_semaphore_hold(gr_semaphore *semaphore);
void gr_semaphore_drop(gr_semaphore *semaphore);

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

#endif
