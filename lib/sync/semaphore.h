/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The life of semaphores. */
#ifndef GR_LIB_SYNC_SEMAPHORE_H
#define GR_LIB_SYNC_SEMAPHORE_H

#include <grinterop/semaphore.h>

#include "lib/sync/semaphore_types.h"

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
                            const gr_semaphore_desc *info, const struct gr_semaphore_ops *ops,
                            const char *call);

/*
 * These functions add and drop a reference of the library, besides the reference of the caller.
 * NULL is allowed.
 *
 * Signals and waits of gr_semaphore_enqueue() must be done before the last reference is dropped.
 * Until signals and waits of gr_semaphore_signal() and gr_semaphore_wait() are done, the semaphore
 * keeps itself alive.
 */
void gr_semaphore_hold(gr_semaphore *semaphore);
void gr_semaphore_drop(gr_semaphore *semaphore);

/* Add and drop the reference of a resource or of an open submit, and count it in `users`. */
void gr_semaphore_begin_use(gr_semaphore *semaphore);
void gr_semaphore_end_use(gr_semaphore *semaphore);

/* Returns the value of the last signal begun; for a binary semaphore the number of signals. */
uint64_t gr_semaphore_last(const gr_semaphore *semaphore);

/*
 * Describes a semaphore that CUDA's last work may wait for, in a sentence that begins with a space:
 * the value that the semaphore will reach and, if it can be queried, its present value. "" for NULL
 * and GR_SEMAPHORE_NONE.
 */
void gr_semaphore_describe_wait(const gr_semaphore *semaphore, char *text, size_t size);

#endif
