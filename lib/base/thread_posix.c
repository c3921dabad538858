/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "lib/base/thread.h"

#include <signal.h>
#include <time.h>

/* Deadlines use the monotonic clock if condition variables support it, otherwise the wall clock. */
bool gr_condition_init(struct gr_condition *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    condition->clock = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0
                           ? CLOCK_MONOTONIC
                           : CLOCK_REALTIME;
    bool made = pthread_cond_init(&condition->variable, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

void gr_condition_end(struct gr_condition *condition)
{
    pthread_cond_destroy(&condition->variable);
}

void gr_condition_wait(struct gr_condition *condition, gr_mutex *mutex)
{
    pthread_cond_wait(&condition->variable, mutex);
}

bool gr_condition_wait_ms(struct gr_condition *condition, gr_mutex *mutex, double ms)
{
    struct timespec at;
    clock_gettime(condition->clock, &at);
    at.tv_nsec += ms > 0 ? (long)(ms * 1e6) : 0;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(&condition->variable, mutex, &at) != 0;
}

void gr_condition_wake(struct gr_condition *condition)
{
    pthread_cond_broadcast(&condition->variable);
}

void gr_call_once(gr_once *once, void (*function)(void))
{
    pthread_once(once, function);
}

int gr_thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}
