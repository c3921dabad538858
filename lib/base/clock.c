/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "lib/base/clock.h"

#include <math.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <sched.h>
#include <time.h>
#endif

#ifdef _WIN32

uint64_t gr_clock_ns(void)
{
    LARGE_INTEGER ticks, rate;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&rate);
    const uint64_t t = (uint64_t)ticks.QuadPart, per_second = (uint64_t)rate.QuadPart;
    return t / per_second * 1000000000 + t % per_second * 1000000000 / per_second;
}

void gr_sleep_us(unsigned us)
{
    Sleep((us + 999) / 1000);
}

#else

uint64_t gr_clock_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void gr_sleep_us(unsigned us)
{
    if (us == 0)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
}

#endif

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
    gr_sleep_us(*polls <= YIELDS ? 0 : 20 + 2 * sleeps);
}
