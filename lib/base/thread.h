/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Mutexes, condition variables and once-flags of the system. Only lock.h uses a mutex; the other
 * files use struct gr_lock.
 */
#ifndef GR_LIB_BASE_THREAD_H
#define GR_LIB_BASE_THREAD_H

#include <stdbool.h>

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN /* or it defines `interface` and `small` */
#include <windows.h>

typedef SRWLOCK gr_mutex;
#define GR_MUTEX SRWLOCK_INIT

#define gr_mutex_init(mutex) (InitializeSRWLock(mutex), true)
#define gr_mutex_end(mutex)  ((void)(mutex))
#define gr_mutex_lock        AcquireSRWLockExclusive
#define gr_mutex_unlock      ReleaseSRWLockExclusive

struct gr_condition {
    CONDITION_VARIABLE variable;
};

#define GR_CONDITION                                                                               \
    {                                                                                              \
        CONDITION_VARIABLE_INIT                                                                    \
    }

typedef INIT_ONCE gr_once;
#define GR_ONCE INIT_ONCE_STATIC_INIT

#else

#include <pthread.h>

typedef pthread_mutex_t gr_mutex;
#define GR_MUTEX PTHREAD_MUTEX_INITIALIZER

#define gr_mutex_init(mutex) (pthread_mutex_init(mutex, NULL) == 0)
#define gr_mutex_end         pthread_mutex_destroy
#define gr_mutex_lock        pthread_mutex_lock
#define gr_mutex_unlock      pthread_mutex_unlock

struct gr_condition {
    pthread_cond_t variable;
    int clock; /* for clock_gettime() */
};

#define GR_CONDITION                                                                               \
    {                                                                                              \
        PTHREAD_COND_INITIALIZER, CLOCK_REALTIME                                                   \
    }

typedef pthread_once_t gr_once;
#define GR_ONCE PTHREAD_ONCE_INIT

/*
 * Starts a thread with all signals blocked, because signals are for the application's threads.
 * Returns 0 or an errno code. Windows builds contain nothing that starts a thread.
 */
int gr_thread_start(pthread_t *thread, void *(*run)(void *), void *user);

#endif

/* Returns whether the condition was made: memory may be missing. */
bool gr_condition_init(struct gr_condition *condition);
void gr_condition_end(struct gr_condition *condition);

/*
 * Unlock the mutex, wait until another thread calls gr_condition_wake(), and lock the mutex again.
 * They may wake spuriously. gr_condition_wait_ms() returns whether the time is over, or the wait
 * failed.
 */
void gr_condition_wait(struct gr_condition *condition, gr_mutex *mutex);
bool gr_condition_wait_ms(struct gr_condition *condition, gr_mutex *mutex, double ms);

/* Wakes all waiting threads. */
void gr_condition_wake(struct gr_condition *condition);

/* Calls the function if no call with this flag has done so. Returns once the function has run. */
void gr_call_once(gr_once *once, void (*function)(void));

#endif
