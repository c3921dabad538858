/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A mutex that is locked until the end of a block, and a lock for a few instructions. */
#ifndef GR_LIB_BASE_LOCK_H
#define GR_LIB_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "lib/base/clock.h"

static inline pthread_mutex_t *gr_lock(pthread_mutex_t *mutex)
{
    pthread_mutex_lock(mutex);
    return mutex;
}

static inline void gr_unlock_at_end(pthread_mutex_t *const *mutex)
{
    pthread_mutex_unlock(*mutex);
}

/* Locks the mutex, and unlocks it at the end of the block. At most one for each block. */
#define GR_LOCKED(mutex)                                                                           \
    __attribute__((cleanup(gr_unlock_at_end), unused)) pthread_mutex_t *const gr_locked =          \
        gr_lock(mutex)

/* A lock that is held for a few instructions only: it needs no calls. At first 0. */
struct gr_spin_lock {
    unsigned taken;
};

static inline bool gr_spin_try_lock(struct gr_spin_lock *lock)
{
    return !__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE);
}

__attribute__((noinline, cold, unused)) static void gr_spin_wait(struct gr_spin_lock *lock)
{
    unsigned polls = 0;
    do
        gr_host_pause(&polls);
    while (!gr_spin_try_lock(lock));
}

static inline void gr_spin_lock(struct gr_spin_lock *lock)
{
    if (!gr_spin_try_lock(lock))
        gr_spin_wait(lock);
}

static inline void gr_spin_unlock(struct gr_spin_lock *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
