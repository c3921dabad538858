/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The number of seconds that a thread waits for a stream before it logs that a kernel has not
 * ended.
 */
#include "softcuda/driver/soft.h"

#include <stdlib.h>

/*
 * The default, in seconds. Kernels of tests and demonstrations finish in this time, even on slow
 * machines.
 */
#define PATIENCE 30

static pthread_once_t read_once = PTHREAD_ONCE_INIT;
static unsigned patience = PATIENCE;

static void read_environment(void)
{
    const char *text = secure_getenv("GR_SOFT_PATIENCE");
    const int asked = text ? atoi(text) : 0;
    if (asked > 0)
        patience = (unsigned)asked;
}

unsigned soft_patience(void)
{
    pthread_once(&read_once, read_environment);
    return patience;
}
