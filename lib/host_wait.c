/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "lib/host_wait.h"

#include <sched.h>
#include <time.h>

#define YIELDS 1000

void gr_host_pause(unsigned *look)
{
    unsigned sleeps = *look < YIELDS ? 0 : *look - YIELDS;
    *look += sleeps < 6;
    if (*look <= YIELDS) {
        sched_yield();
        return;
    }
    long us = 20L << sleeps;
    nanosleep(&(struct timespec){.tv_nsec = (us < 1000 ? us : 1000) * 1000}, NULL);
}
