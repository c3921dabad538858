/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#define _POSIX_C_SOURCE 200809L
#include "lib/host_wait.h"

#include <time.h>

void gr_host_pause(unsigned *look)
{
    long us = 20L << (*look < 6 ? (*look)++ : 6);
    nanosleep(&(struct timespec){.tv_nsec = (us < 1000 ? us : 1000) * 1000}, NULL);
}
