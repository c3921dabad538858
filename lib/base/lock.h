/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The locks of the library and their order. Builds with a sanitizer check the order at each lock:
 * lock.c.
 */
#ifndef GR_LIB_BASE_LOCK_H
#define GR_LIB_BASE_LOCK_H

#include <stdbool.h>

#include "lib/base/compiler.h"
#include "lib/base/thread.h"

/*
 * The kinds of locks. A thread that holds a lock takes only locks of kinds further down, so that no
 * two threads wait for each other. What may call the program's functions is called without a lock,
 * apart from the log, whose functions may not call grinterop.
 */
#define GR_LOCK_KINDS(X)                                                                           \
    X(COMPAT_HANDLES)                                                                              \
    X(DRIVER_LOAD)                                                                                 \
    X(DRIVER_TABLES)                                                                               \
    X(BLOCKS)                                                                                      \
    X(PRIVATE_VULKAN)                                                                              \
    X(TIMELINES)                                                                                   \
    X(KEPT_STAGING)                                                                                \
    X(TEXEL_SHADERS)                                                                               \
    X(SHARE_GROUPS)                                                                                \
    X(PARKED_OBJECTS)                                                                              \
    X(LINK_RING)                                                                                   \
    X(RING)                                                                                        \
    X(CONTEXT_MARKS)                                                                               \
    X(LINK_VALUES)                                                                                 \
    X(VULKAN_DEVICE)                                                                               \
    X(SUBMITS)                                                                                     \
    X(SPARE_SUBMITS)                                                                               \
    X(SEMAPHORE)                                                                                   \
    X(MAPPING_USERS)                                                                               \
    X(DEFERRED_RELEASES)                                                                           \
    X(ENDINGS)                                                                                     \
    X(VULKAN_LOADER)                                                                               \
    X(HEADLESS)                                                                                    \
    X(HOST_SEMAPHORE)                                                                              \
    X(STREAM_USES)                                                                                 \
    X(MAPPING_USES)                                                                                \
    X(KERNEL_MODULES)                                                                              \
    X(LOG_SINKS)

enum gr_lock_kind {
#define GR_LOCK_KIND(name) GR_LOCK_##name,
    GR_LOCK_KINDS(GR_LOCK_KIND)
#undef GR_LOCK_KIND
        GR_LOCK_KIND_COUNT
};

struct gr_lock {
    gr_mutex mutex;
    enum gr_lock_kind kind;
};

/* The initializer of a lock of this kind. */
#define GR_LOCK(NAME)                                                                              \
    {                                                                                              \
        GR_MUTEX, GR_LOCK_##NAME                                                                   \
    }

#ifdef GR_CHECK_LOCKS
/* Ends the process if this thread may not take the lock now. Otherwise notes that it has it. */
void gr_lock_check(const struct gr_lock *lock);

/* Ends the process if this thread has a lock, because the program may be called now. */
void gr_lock_check_free(void);

void gr_lock_forget(const struct gr_lock *lock);
#else
#define gr_lock_check_free() ((void)0)
#define gr_lock_check(lock)  ((void)(lock))
#define gr_lock_forget(lock) ((void)(lock))
#endif

/* Returns whether the lock was made: memory may be missing. */
static inline bool gr_lock_init(struct gr_lock *lock, enum gr_lock_kind kind)
{
    lock->kind = kind;
    return gr_mutex_init(&lock->mutex);
}

static inline void gr_lock_end(struct gr_lock *lock)
{
    gr_mutex_end(&lock->mutex);
}

static inline struct gr_lock *gr_lock(struct gr_lock *lock)
{
    gr_lock_check(lock);
    gr_mutex_lock(&lock->mutex);
    return lock;
}

static inline void gr_unlock(struct gr_lock *lock)
{
    gr_lock_forget(lock);
    gr_mutex_unlock(&lock->mutex);
}

static inline void gr_unlock_at_end(struct gr_lock *const *lock)
{
    gr_unlock(*lock);
}

/* Locks until the end of the block. At most one for each block. */
#define GR_LOCKED(lock) GR_CLEANUP(gr_unlock_at_end) struct gr_lock *const gr_locked = gr_lock(lock)

#endif
