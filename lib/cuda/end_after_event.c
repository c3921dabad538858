/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The list of objects that are ended after the streams have finished their work. */
#include "lib/cuda/end_after_event.h"

#include <pthread.h>

#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gr_retired *list;

void gr_retire(struct gr_retired *retired)
{
    pthread_mutex_lock(&lock);
    retired->next = list;
    list = retired;
    pthread_mutex_unlock(&lock);
}

void gr_retire_after(struct gr_retired *retired, struct gr_context *context, CUevent after,
                     void (*end)(struct gr_retired *retired, bool alive))
{
    if (gr_event_has_passed(after)) {
        gr_driver()->EventDestroy(after);
        end(retired, true);
        return;
    }
    *retired = (struct gr_retired){.context = *context, .after = after, .end = end};
    context->primary_of = -1; /* `retired` owns the context now */
    gr_retire(retired);
}

/* Ends an object if its work is done. If `wait` is set, waits for the work first. */
static bool try_to_end(struct gr_retired *retired, bool wait)
{
    const gr_cuda_api *cu = gr_driver();
    struct gr_context context = retired->context;
    bool pushed;
    bool alive = gr_context_enter(&context, &pushed, __func__) == GR_OK;
    if (alive && wait)
        gr_event_finish(retired->after);
    retired->failed = alive && gr_event_has_failed(retired->after);
    if (alive && !wait && !retired->failed && !gr_event_has_passed(retired->after)) {
        gr_context_leave(pushed);
        return false;
    }
    if (alive)
        cu->EventDestroy(retired->after);
    retired->end(retired, alive);
    gr_context_leave(pushed);
    gr_context_drop(&context);
    return true;
}

/*
 * Ends all objects whose work is done. If `finish` is not NULL, waits for the objects of that CUDA
 * context, and ends them, too.
 */
static void end_all(CUcontext finish)
{
    struct gr_error_record before;
    pthread_mutex_lock(&lock);
    struct gr_retired *mine = list;
    list = NULL; /* ending an object may call this function again */
    pthread_mutex_unlock(&lock);
    if (!mine)
        return;
    gr_error_save(&before);
    while (mine) {
        struct gr_retired *next = mine->next;
        if (!try_to_end(mine, finish && mine->context.handle == finish))
            gr_retire(mine);
        mine = next;
    }
    gr_error_restore(&before);
}

void gr_retired_collect(void)
{
    end_all(NULL);
}

void gr_retired_finish(const struct gr_context *context)
{
    end_all(context->handle);
}
