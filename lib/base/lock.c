/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the order of locks, in builds with a sanitizer: any test finds a lock out of order. */
#include "lib/base/lock.h"

#ifdef GR_CHECK_LOCKS
#include <stdio.h>
#include <stdlib.h>

static _Thread_local unsigned held[GR_LOCK_KIND_COUNT]; /* the locks of each kind */

static const char *const names[] = {
#define GR_LOCK_KIND(name) #name,
    GR_LOCK_KINDS(GR_LOCK_KIND)
#undef GR_LOCK_KIND
};

/* Checks that the thread holds no lock of the kind `first` or of one further down. */
static void check_from(int first, const char *does, const char *what)
{
    for (int kind = first; kind < GR_LOCK_KIND_COUNT; kind++)
        if (held[kind]) {
            fprintf(stderr, "grinterop: a thread that holds %s %s %s: lock.h has the order\n",
                    names[kind], does, what);
            abort();
        }
}

void gr_lock_check(const struct gr_lock *lock)
{
    check_from((int)lock->kind, "takes", names[lock->kind]);
    held[lock->kind]++;
}

void gr_lock_check_free(void)
{
    check_from(0, "may call", "the program");
}

void gr_lock_forget(const struct gr_lock *lock)
{
    held[lock->kind]--;
}
#else
typedef int gr_lock_has_no_check; /* ISO C allows no empty file */
#endif
