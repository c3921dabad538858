/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A lock that is held for a few instructions only. */
#ifndef GR_LIB_BASE_SPIN_LOCK_H
#define GR_LIB_BASE_SPIN_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/base/compiler.h"
#include "lib/base/clock.h"

/* It needs no calls. At first 0. */
struct gr_spin_lock {
    atomic_uint taken;
};

static inline bool gr_spin_try_lock(struct gr_spin_lock *lock)
{
    return !atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire);
}

GR_NOINLINE GR_COLD GR_UNUSED static void gr_spin_wait(struct gr_spin_lock *lock)
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
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}

#endif
