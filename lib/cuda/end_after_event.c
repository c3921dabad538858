/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#include "lib/cuda/end_after_event.h"

#include <stdatomic.h>

#include "lib/base/error.h"
#include "lib/base/clock.h"
#include "lib/base/exit.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"

static struct gr_lock lock = GR_LOCK(ENDINGS);
static _Atomic(struct gr_ending *) queue, *newest = &queue; /* from the oldest to the newest */

void gr_ending_add(struct gr_ending *ending)
{
    gr_exit_watch();
    GR_LOCKED(&lock);
    ending->next = NULL;
    atomic_store_explicit(newest, ending, memory_order_release);
    newest = &ending->next;
}

enum waits_for { NOTHING, WORK, DRAWING, CAPTURE };

static enum waits_for use_of(const struct gr_ending *ending)
{
    if (ending->after && !gr_event_has_passed(ending->after))
        return WORK;
    return ending->is_drawn && ending->is_drawn(ending) ? DRAWING : NOTHING;
}

void gr_ending_after(struct gr_ending *ending, struct gr_context *context, CUevent after,
                     void (*end)(struct gr_ending *ending, bool alive))
{
    ending->context = *context;
    ending->after = after;
    ending->end = end;
    if (use_of(ending) == NOTHING) {
        end(ending, true); /* frees `ending` */
        if (after)
            gr_driver()->EventDestroy(after);
        return;
    }
    context->primary_of = -1; /* `ending` owns the context now */
    gr_ending_add(ending);
}

/* Removes the object at this place; NULL at the end of the queue. The lock is held. */
static struct gr_ending *take(_Atomic(struct gr_ending *) *link)
{
    struct gr_ending *ending = *link;
    if (ending) {
        atomic_store_explicit(link, ending->next, memory_order_release);
        newest = *link ? newest : link;
    }
    return ending;
}

/* If the context was destroyed, its streams cannot be queried, and the object waits for nothing. */
static enum waits_for what_for(const struct gr_ending *ending)
{
    GR_ENTERED entered = 0;
    if (!gr_context_try(&ending->context, &entered))
        return NOTHING;
    if (!ending->uses)
        return use_of(ending);
    if (gr_uses_capture(ending->uses))
        return CAPTURE;
    return ending->follows || gr_uses_done(ending->uses) ? NOTHING : WORK;
}

/*
 * Removes the oldest object whose work is done. Does not query the driver for objects behind one
 * whose work is not done, since a loop may leave many tensors in one stream.
 */
static struct gr_ending *take_done(void)
{
    _Atomic(struct gr_ending *) *link = &queue;
    const struct gr_ending *busy = NULL;
    GR_LOCKED(&lock);
    for (; *link; link = &(*link)->next) {
        if (busy && busy->uses && (*link)->uses && !(*link)->follows &&
            gr_uses_follows((*link)->uses, busy->uses))
            continue;
        busy = *link;
        if (what_for(busy) == NOTHING)
            break;
    }
    return take(link);
}

/* Whether gr_endings_finish() leaves the object in the queue. */
static bool is_left(const struct gr_ending *ending, enum waits_for what, const void *owner)
{
    return what == CAPTURE || (what == DRAWING && ending->owner != owner);
}

/* Removes the oldest object of a context that is not left. */
static struct gr_ending *take_of(CUcontext context, const void *owner)
{
    _Atomic(struct gr_ending *) *link = &queue;
    GR_LOCKED(&lock);
    while (*link && ((*link)->context.handle != context || is_left(*link, what_for(*link), owner)))
        link = &(*link)->next;
    return take(link);
}

static void end(struct gr_ending *ending)
{
    struct gr_context context = ending->context;
    void (*finally)(struct gr_ending *) = ending->finally;
    CUevent after = ending->after;
    gr_entered entered;
    const bool alive = gr_context_try(&context, &entered);
    ending->end(ending, alive);
    if (alive && after)
        gr_driver()->EventDestroy(after);
    gr_context_leave(entered);
    gr_context_drop(&context);
    if (finally)
        finally(ending);
}

void gr_ending_start(struct gr_ending *ending)
{
    if (what_for(ending) == NOTHING)
        end(ending);
    else
        gr_ending_add(ending);
}

static _Thread_local bool is_ending;

void gr_endings_collect_now(void)
{
    const bool is_nested = is_ending;
    struct gr_ending *done;
    gr_lock_check_free();
    if (gr_is_exiting() || !atomic_load_explicit(&queue, memory_order_acquire))
        return;
    GR_KEEP_ERROR();
    GR_RELAXED();
    is_ending = true;
    while ((done = take_done()))
        end(done);
    is_ending = is_nested;
}

void gr_endings_collect(void)
{
    if (!is_ending)
        gr_endings_collect_now();
}

bool gr_ending_wait(const struct gr_ending *ending, const void *owner, struct gr_deadline *patience)
{
    enum waits_for what;
    unsigned polls = 0;
    GR_RELAXED();
    while ((what = what_for(ending)) == WORK || (what == DRAWING && ending->owner == owner)) {
        if (what == DRAWING && patience->at == 0)
            *patience = gr_deadline_in(GR_DRAWN_PATIENCE_MS);
        if (what == DRAWING && gr_deadline_is_over(patience)) {
            gr_log(GR_LOG_WARNING, "The memory of a copied resource is freed, although Vulkan has "
                                   "not signalled its last use for 2 s.");
            break;
        }
        gr_host_pause(&polls);
    }
    return !is_left(ending, what, owner);
}

void gr_endings_finish(const struct gr_context *context, const void *owner,
                       struct gr_deadline *patience)
{
    struct gr_ending *ending;
    gr_lock_check_free();
    GR_KEEP_ERROR();
    GR_RELAXED();
    while ((ending = take_of(context->handle, owner))) {
        if (gr_ending_wait(ending, owner, patience))
            end(ending);
        else
            gr_ending_add(ending);
    }
}
