/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What orders the two processes of a shared ring: a timeline semaphore of each, `mine` and
 * `theirs`. The page says of each slot which value of which has to come first.
 *
 * this side is      its use begins                            its use ends
 * ------------      -------------------------------------- --------------------------------------
 * CUDA              the map waits for theirs, as for          the release signals mine, as ever
 *                   graphics' semaphore
 * graphics,         its submit waits for theirs, as for       its submit signals mine, as ever
 * direct            CUDA's semaphore
 * graphics,         the stream `in` waits for theirs and      the stream `out` waits for its
 * submit, relayed           releases, as CUDA would have              as a map would, and signals
 * mine
 *
 * Direct are semaphores that can be exported and that nobody else uses; the relay is for all
 * others.
 */
#define _POSIX_C_SOURCE 200809L
#include "lib/ring/peer_link.h"

#include <time.h>

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/external/external.h"

/* How often a look at an event is repeated, and a tenth of a millisecond between. */
#define MOST_PAUSES 50

/* ---- A peer that is gone --------------------------------------------------------------------- */

bool gr_link_has_passed(CUevent event)
{
    const struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < MOST_PAUSES; i++) {
        if (gr_driver()->cuEventQuery(event) != CUDA_ERROR_NOT_READY)
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void signal_point(const gr_semaphore_point *point)
{
    CUstream stream;
    if (gr_driver()->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
        return;
    point->semaphore->ops->signal(point, 1, stream);
    gr_driver()->cuStreamDestroy(stream);
}

/*
 * The peer's own signal may have come; it must not be taken back by a smaller one. If the driver
 * refuses, streams go on waiting, and nothing else can be done. The link's lock is held.
 */
static void serve(struct gr_share_link *link)
{
    const gr_semaphore_point point = {.semaphore = link->theirs, .value = link->awaited};
    bool pushed;
    if (!link->serving || link->awaited <= link->served ||
        gr_context_enter(&link->context, &pushed, __func__) != GR_OK)
        return;
    CUevent event;
    gr_semaphore_event_after(&point, 1, &event);
    if (!event || !gr_link_has_passed(event))
        signal_point(&point);
    if (event)
        gr_driver()->cuEventDestroy(event);
    link->served = link->awaited;
    gr_context_leave(pushed);
}

void gr_link_serve(struct gr_share_link *link)
{
    pthread_mutex_lock(&link->lock);
    link->serving = true;
    serve(link);
    pthread_mutex_unlock(&link->lock);
}

/* Before anything is made to wait for it. */
static void note_awaited(struct gr_share_link *link, uint64_t value)
{
    gr_error before;
    gr_error_save(&before);
    pthread_mutex_lock(&link->lock);
    if (value > link->awaited)
        link->awaited = value;
    serve(link);
    pthread_mutex_unlock(&link->lock);
    gr_error_restore(&before);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static gr_status relay_in(struct gr_share_link *link, gr_resource *const resources[], size_t n,
                          uint64_t value)
{
    const gr_semaphore_point point = {.semaphore = link->theirs, .value = value};
    gr_status status = value ? link->theirs->ops->wait(&point, 1, link->in) : GR_OK;
    return status == GR_OK ? gr_sync_release(resources, n, link->in) : status;
}

static void wait_directly(bool is_cuda, gr_resource *resource, uint64_t value)
{
    struct gr_sync *sync = gr_sync_of(resource);
    if (value == 0)
        return;
    if (is_cuda)
        sync->drawn = value;
    else
        sync->computed = value;
}

gr_status gr_link_begin_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                            const char *call)
{
    struct gr_share_link *link = gr_link_of(ring);
    uint64_t last = 0;
    bool pushed;
    for (size_t i = 0; i < n; i++)
        if (link->slots[side->numbers[i]].in > last)
            last = link->slots[side->numbers[i]].in;
    if (last)
        note_awaited(link, last);
    gr_status status = gr_context_enter(&link->context, &pushed, call);
    if (status != GR_OK)
        return status;
    if (link->in)
        status = relay_in(link, side->resources, n, last);
    for (size_t i = 0; i < n && !link->in; i++)
        wait_directly(side->is_cuda, side->resources[i], link->slots[side->numbers[i]].in);
    gr_context_leave(pushed);
    return status;
}

/* ---- End ------------------------------------------------------------------------------------- */

static gr_status relay_out(struct gr_share_link *link, gr_resource *const resources[], size_t n,
                           uint64_t *value)
{
    gr_status status = gr_sync_acquire(resources, n, link->out);
    if (status != GR_OK)
        return status;
    pthread_mutex_lock(&link->mine->lock);
    gr_semaphore_point point = {.semaphore = link->mine, .value = link->mine->signalled + 1};
    status = link->mine->ops->signal(&point, 1, link->out);
    if (status == GR_OK)
        *value = ++link->mine->signalled;
    pthread_mutex_unlock(&link->mine->lock);
    return status;
}

gr_status gr_link_end_use(gr_ring *ring, const struct gr_ring_side *side, size_t n,
                          const char *call)
{
    struct gr_share_link *link = gr_link_of(ring);
    bool pushed;
    uint64_t value = 0;
    gr_status status = gr_context_enter(&link->context, &pushed, call);
    if (status != GR_OK)
        return status;
    if (link->out)
        status = relay_out(link, side->resources, n, &value);
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        const struct gr_sync *sync = gr_sync_of(side->resources[i]);
        if (!link->out)
            value = side->is_cuda ? sync->computed : sync->drawn;
        link->slots[side->numbers[i]].out = value;
    }
    gr_context_leave(pushed);
    return status;
}

/* ---- The end of all -------------------------------------------------------------------------- */

static uint64_t last_out(const struct gr_share_link *link)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < link->count; i++)
        if (link->slots[i].out > last)
            last = link->slots[i].out;
    return last;
}

gr_status gr_link_last_work(struct gr_share_link *link, CUevent *event)
{
    const gr_semaphore_point all[] = {{.semaphore = link->mine, .value = last_out(link)},
                                      {.semaphore = link->theirs, .value = link->awaited}};
    gr_semaphore_point points[2];
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        if (all[i].value)
            points[n++] = all[i];
    *event = NULL;
    return n ? gr_semaphore_event_after(points, n, event) : GR_OK;
}
