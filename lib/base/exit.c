/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/exit.h"

#include <pthread.h>
#include <stdlib.h>

static bool exiting;

static void note_exit(void)
{
    __atomic_store_n(&exiting, true, __ATOMIC_RELEASE);
}

static void register_exit(void)
{
    atexit(note_exit);
}

void gr_exit_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_exit);
}

bool gr_is_exiting(void)
{
    return __atomic_load_n(&exiting, __ATOMIC_ACQUIRE);
}
