/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Checks the order of locks, in builds with a sanitizer: any test finds a lock out of order. */
#include "lib/base/lock.h"

#ifdef GR_CHECK_LOCKS
#include <stdio.h>
#include <stdlib.h>

static _Thread_local unsigned held[GR_LOCK_KIND_COUNT]; /* the locks of each kind */

/* Checks that the thread holds no lock of this kind or of one further down. */
static void check_from(int kind, const char *does)
{
    static const char *const names[] = {
#define GR_LOCK_KIND(name) #name,
        GR_LOCK_KINDS(GR_LOCK_KIND)
#undef GR_LOCK_KIND
    };
    for (int held_kind = kind; held_kind < GR_LOCK_KIND_COUNT; held_kind++)
        if (held[held_kind]) {
            fprintf(stderr, "grinterop: a thread that holds %s %s%s: lock.h has the order\n",
                    names[held_kind], does ? does : "takes ", does ? "" : names[kind]);
            abort();
        }
}

void gr_lock_check(const struct gr_lock *lock)
{
    check_from((int)lock->kind, NULL);
    held[lock->kind]++;
}

void gr_lock_check_free(void)
{
    check_from(0, "may call the program");
}

void gr_lock_forget(const struct gr_lock *lock)
{
    held[lock->kind]--;
}
#else
typedef int gr_lock_has_no_check; /* ISO C allows no empty file */
#endif
