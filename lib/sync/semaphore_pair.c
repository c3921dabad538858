/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Makes pairs of semaphores, and counts their references and users. */
#include "lib/sync/sync.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/error.h"

struct gr_semaphore_pair *gr_pair_make(gr_semaphore *acquire, gr_semaphore *release)
{
    struct gr_semaphore_pair *pair = gr_check_memory(malloc(sizeof(*pair)));
    if (!pair) {
        gr_semaphore_drop(acquire);
        gr_semaphore_drop(release);
        return NULL;
    }
    *pair = (struct gr_semaphore_pair){.acquire = acquire, .release = release, .holds = 1};
    return pair;
}

struct gr_semaphore_pair *gr_pair_of_new(gr_semaphore *acquire, gr_semaphore *release)
{
    if (acquire && release)
        return gr_pair_make(acquire, release);
    gr_semaphore_drop(acquire);
    gr_semaphore_drop(release);
    return NULL;
}

bool gr_pair_hold_living(struct gr_semaphore_pair *pair)
{
    unsigned holds = atomic_load_explicit(&pair->holds, memory_order_relaxed);
    while (holds &&
           !atomic_compare_exchange_strong_explicit(&pair->holds, &holds, holds + 1,
                                                    memory_order_relaxed, memory_order_relaxed))
        ;
    return holds > 0;
}

void gr_pair_clear(struct gr_semaphore_pair *pair)
{
    gr_semaphore_drop(pair->acquire);
    gr_semaphore_drop(pair->release);
    pair->acquire = pair->release = NULL;
}

void gr_pair_drop(struct gr_semaphore_pair *pair)
{
    if (!pair || atomic_fetch_sub_explicit(&pair->holds, 1, memory_order_acq_rel) > 1)
        return;
    gr_pair_clear(pair);
    if (pair->end)
        pair->end(pair);
    else
        free(pair);
}

unsigned gr_pair_users(const struct gr_semaphore_pair *pair)
{
    const unsigned acquire = atomic_load_explicit(&pair->acquire->users, memory_order_relaxed);
    const unsigned release = atomic_load_explicit(&pair->release->users, memory_order_relaxed);
    return acquire > release ? acquire : release;
}
