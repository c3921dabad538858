/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "lib/base/clock.h"

#include <math.h>
#include <sched.h>
#include <time.h>

uint64_t gr_clock_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

double gr_clock_ms(void)
{
    return 1e-6 * (double)gr_clock_ns();
}

double gr_deadline_left(const struct gr_deadline *deadline)
{
    return isinf(deadline->at) ? INFINITY : deadline->at - gr_clock_ms();
}

bool gr_deadline_is_over(const struct gr_deadline *deadline)
{
    return gr_deadline_left(deadline) <= 0;
}

#define YIELDS 1000

/* The number of sleeps that get longer. Slow growth keeps a wait from ending late. */
#define SLEEPS 490

void gr_host_pause(unsigned *polls)
{
    unsigned sleeps = *polls < YIELDS ? 0 : *polls - YIELDS;
    *polls += sleeps < SLEEPS;
    if (*polls <= YIELDS) {
        sched_yield();
        return;
    }
    long us = 20 + 2 * (long)sleeps;
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}
