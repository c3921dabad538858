/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A lock that is held for a few instructions only. */
#ifndef GR_LIB_BASE_SPIN_LOCK_H
#define GR_LIB_BASE_SPIN_LOCK_H

#include <stdbool.h>

#include "lib/base/clock.h"

/* It needs no calls. At first 0. */
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
