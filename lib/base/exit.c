/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/base/exit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/loader.h"
#include "lib/base/thread.h"

static atomic_bool exiting;

static void note_exit(void)
{
    atomic_store_explicit(&exiting, true, memory_order_release);
}

static void register_exit(void)
{
    gr_loader_stay();
    atexit(note_exit);
}

void gr_exit_watch(void)
{
    static gr_once once = GR_ONCE;
    gr_call_once(&once, register_exit);
}

bool gr_is_exiting(void)
{
    return atomic_load_explicit(&exiting, memory_order_acquire);
}
