/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The memory of submits. It is kept, so that a loop of begin, commit and free soon no longer
 * allocates. The newest spare submits stay unused, so that a second free by mistake does not free
 * the submit that begins next.
 */
#include "lib/sync/submit_memory.h"

#include <stdlib.h>

#include "lib/base/error.h"
#include "lib/base/live_objects.h"
#include "lib/base/lock.h"

#define BYTES_FOR_EACH                                                                             \
    (sizeof(struct gr_submit_use) + sizeof(gr_resource *) + 2 * sizeof(gr_semaphore *) +           \
     3 * sizeof(uint64_t))

#define MOST_SPARE 48
#define UNUSED     16 /* of the spare ones, as gr.h says */

/* The spare submits, the oldest one first. */
static struct gr_lock lock = GR_LOCK(SPARE_SUBMITS);
static struct gr_submit_made *spare, **last = &spare;
static unsigned spare_count;

static bool fits_better(const struct gr_submit_made *a, const struct gr_submit_made *b, size_t n)
{
    return !b || (a->room >= n ? b->room < n || a->room < b->room : a->room > b->room);
}

/*
 * Takes the smallest spare submit that is large enough, or else the largest one. NULL if all must
 * stay unused.
 */
static struct gr_submit_made *take_spare(size_t n)
{
    GR_LOCKED(&lock);
    struct gr_submit_made **best = NULL, **link = &spare;
    for (unsigned i = UNUSED; i < spare_count; i++, link = &(*link)->next_spare)
        if (fits_better(*link, best ? *best : NULL, n))
            best = link;
    if (!best)
        return NULL;
    struct gr_submit_made *s = *best; /* not the last one */
    *best = s->next_spare;
    spare_count--;
    return s;
}

void gr_submit_memory_give(struct gr_submit_made *s)
{
    atomic_store_explicit(&s->out, false, memory_order_relaxed);
    gr_lock(&lock);
    bool kept = spare_count < MOST_SPARE;
    if (kept) {
        s->next_spare = NULL;
        *last = s;
        last = &s->next_spare;
        spare_count++;
    }
    gr_unlock(&lock);
    if (kept)
        return;
    gr_live_remove(GR_LIVE_SUBMIT, &s->shown);
    free(s->uses);
    free(s->scratch);
    gr_live_free_memory(GR_LIVE_SUBMIT, s);
}

static bool make_room(struct gr_submit_made *s, size_t n)
{
    if (s->room >= n)
        return true;
    char *piece = n <= SIZE_MAX / BYTES_FOR_EACH ? malloc(n * BYTES_FOR_EACH) : NULL;
    if (!piece)
        return false;
    free(s->uses);
    s->room = n;
    s->uses = (struct gr_submit_use *)piece;
    s->wait_values = (uint64_t *)(s->uses + n);
    s->signal_values = s->wait_values + n;
    s->waited_before = s->signal_values + n;
    s->waits = (gr_semaphore **)(s->waited_before + n);
    s->signals = s->waits + n;
    s->list = (const gr_resource **)(s->signals + n);
    return true;
}

struct gr_submit_made *gr_submit_memory_take(size_t n)
{
    struct gr_submit_made *s = take_spare(n);
    if (!s && (s = calloc(1, sizeof(*s))))
        gr_live_add(GR_LIVE_SUBMIT, &s->shown);
    if (!s || !make_room(s, n)) {
        if (s)
            gr_submit_memory_give(s);
        return gr_null(gr_fail_memory());
    }
    s->committed = s->filled = false;
    s->count = 0;
    s->shown = (gr_submit){
        .waits = s->waits,
        .wait_values = s->wait_values,
        .signals = s->signals,
        .signal_values = s->signal_values,
    };
    return s;
}
