/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A mutex that is locked until the end of a block. */
#ifndef GR_LIB_BASE_LOCK_H
#define GR_LIB_BASE_LOCK_H

#include <pthread.h>

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

#endif
