/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Waits for a point in time: sleeps until shortly before it, then spins. */
#define _GNU_SOURCE
#include <time.h>

#include "bench/latency/latency.h"

enum { AWAKE_NS = 150000 };

int64_t latency_wait_until(int64_t when)
{
    int64_t now = latency_now();
    if (when - now > AWAKE_NS) {
        const int64_t until = when - AWAKE_NS;
        const struct timespec at = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
    while ((now = latency_now()) < when)
        ;
    return now;
}
