/* SPDX-License-Identifier: Apache-2.0 */
/* The life of semaphores. */
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
 * A hold of the library's own beside the caller's, and the end of one; NULL is fine.
 * What gr_semaphore_enqueue() put into streams has to be done before the last hold goes. The
 * semaphore outlives the points of gr_semaphore_signal() and gr_semaphore_wait() by itself.
 */
void gr_semaphore_hold(gr_semaphore *semaphore);
void gr_semaphore_drop(gr_semaphore *semaphore);

#endif
