/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Orders the two processes of a shared ring by one timeline semaphore each, `mine` and `theirs`.
 * For each slot, the page has the values that the semaphores must reach before the next use.
 *
 *     this side is       its use begins                        its use ends
 *     -----------------  ------------------------------------  ----------------------------------
 *     CUDA               the map waits for theirs instead of   the release signals mine as usual
 *                        the graphics semaphore
 *     graphics, direct   its submit waits for theirs instead   its submit signals mine as usual
 *                        of the CUDA semaphore
 *     graphics, relayed  the stream `in` waits for theirs,     the stream `out` waits for its
 *                        then releases in CUDA's place         submit like a map, then signals
 *                                                              mine
 *
 * The semaphores of the resources are used directly if they can be exported and have no other
 * users; otherwise they are relayed.
 */
#include "lib/ring/link/link.h"

#include "lib/base/error.h"
#include "lib/base/lock.h"
#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/sync/sync.h"

/* The time limit, in milliseconds, for work that should already be done. */
#define GRACE_MS 5

/* The time, in milliseconds, that the end of a ring waits for a living peer. */
#define PEER_MS 2000

/* The maximum number of attempts of a driver call: if the device is lost, every attempt fails. */
#define MOST_TRIES 3

/* ---- Querying and signalling ----------------------------------------------------------------- */

/*
 * Whether an event passes within `ms` milliseconds. Queries once more at the end, because this
 * thread may have been delayed. If the driver keeps failing, its device is lost and no work waits,
 * so the result is true.
 */
static bool passes_within(CUevent event, unsigned ms)
{
    for (int refusals = 0; refusals < MOST_TRIES; refusals++) {
        CUresult result = gr_event_poll(event, NULL, ms);
        if (result == CUDA_ERROR_NOT_READY)
            result = gr_event_poll(event, NULL, 0);
        if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
            return result == CUDA_SUCCESS;
    }
    return true;
}

/* Signals from a stream, and from the host if the CUDA context has failed meanwhile. */
static void signal_value(gr_semaphore *semaphore, uint64_t value)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = value);
    const struct gr_semaphore_ops *ops = semaphore->ops;
    CUstream stream = NULL;
    bool done = gr_driver()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                ops->signal(&point, 1, stream) == GR_OK;
    if (stream)
        gr_driver()->StreamDestroy(stream);
    if (ops->signal_in_place && (!done || gr_context_has_failed(&semaphore->context)))
        ops->signal_in_place(semaphore, value);
}

/* ---- Life ------------------------------------------------------------------------------------ */

gr_status gr_link_make_streams(struct gr_link *link)
{
    const struct gr_driver_api *cu = gr_driver();
    GR_ENTERED entered = 0;
    GR_TRY(gr_context_enter(&link->context, &entered));
    CUresult result = cu->EventCreate(&link->mark, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->StreamCreate(&link->passed, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS && link->relayed)
        result = cu->StreamCreate(&link->out, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS && link->relayed)
        result = cu->StreamCreate(&link->in, CU_STREAM_NON_BLOCKING);
    GR_TRY_CUDA(result, "cuStreamCreate", "Cannot create the ring's streams.");
    return GR_OK;
}

/*
 * Ends a probe. Signals the value of an open query first: a pending wait occupies the GPU, and
 * later driver calls may wait for it.
 */
static void end_probe(struct gr_peer_probe *probe, gr_semaphore *semaphore)
{
    if (probe->value && !passes_within(probe->after, GRACE_MS))
        signal_value(semaphore, probe->value);
    gr_peer_probe_end(probe);
}

static void end_streams(struct gr_link *link)
{
    const struct gr_driver_api *cu = gr_driver();
    const CUstream streams[] = {link->out, link->in, link->passed};
    GR_ENTERED entered = 0;
    if (!link->mark || !gr_context_try(&link->context, &entered))
        return;
    end_probe(&link->arriving, link->theirs.semaphore);
    for (int i = 0; i < 2; i++) {
        struct gr_gauge *gauge = i ? &link->theirs : &link->mine;
        end_probe(&gauge->coming, gauge->semaphore);
        end_probe(&gauge->again, gauge->semaphore);
    }
    for (int i = 0; i < 3; i++)
        if (streams[i])
            cu->StreamDestroy(streams[i]);
    cu->EventDestroy(link->mark);
}

void gr_link_end_semaphores(struct gr_link *link, bool alive)
{
    if (alive)
        end_streams(link);
    gr_semaphore_drop(link->mine.semaphore);
    gr_semaphore_drop(link->theirs.semaphore);
    gr_pair_drop(link->relayed);
    gr_lock_end(&link->values_lock);
}

/* ---- A peer that is gone --------------------------------------------------------------------- */

/*
 * Signals `awaited` in the peer's place, but only if the peer has not done so: a smaller value must
 * not overwrite a larger one. If the driver fails, streams keep waiting, and nothing else can be
 * done.
 */
static void serve_one(struct gr_gauge *gauge)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = gauge->semaphore, .value = gauge->awaited);
    CUevent event;
    if (!gauge->serving || gauge->awaited <= gauge->served)
        return;
    gr_semaphore_event_after(&point, 1, NULL, &event);
    if (!event || !passes_within(event, GRACE_MS))
        signal_value(gauge->semaphore, gauge->awaited);
    if (event)
        gr_driver()->EventDestroy(event);
    gauge->served = gauge->awaited;
}

/* Once the peer is gone, signals both semaphores as far as necessary. The lock is held. */
static void serve(struct gr_link *link)
{
    if (!link->theirs.serving)
        return;
    GR_KEEP_ERROR();
    GR_ENTERED entered = 0;
    if (!gr_context_try(&link->context, &entered))
        return;
    serve_one(&link->theirs);
    serve_one(&link->mine);
}

void gr_link_serve(struct gr_link *link)
{
    GR_LOCKED(&link->values_lock);
    link->theirs.serving = true;
    serve(link);
}

/*
 * False if the semaphore has fallen back to a smaller value. The context is current, and the lock
 * is held.
 */
static bool has_not_fallen(struct gr_gauge *gauge)
{
    struct gr_peer_probe *coming = &gauge->coming, *again = &gauge->again;
    if (!coming->value && gauge->awaited > gauge->reached)
        gr_peer_probe_query(coming, gauge->semaphore, gauge->awaited);
    uint64_t value = coming->value;
    if (gr_peer_probe_poll(coming) == GR_PEER_HAS)
        gauge->reached = value;
    if (!again->value && gauge->reached)
        gr_peer_probe_query(again, gauge->semaphore, gauge->reached);
    return gr_peer_probe_poll(again) != GR_PEER_LACKS;
}

/* Whether neither semaphore has fallen back to a smaller value. The lock is held. */
static bool have_not_fallen(struct gr_link *link)
{
    bool sound = true;
    GR_ENTERED entered = 0;
    if ((!link->theirs.awaited && !link->mine.awaited) || !gr_context_try(&link->context, &entered))
        return true;
    if (!link->theirs.serving)
        sound = has_not_fallen(&link->theirs);
    if (!link->mine.serving)
        link->mine.serving = !has_not_fallen(&link->mine);
    return sound && !link->mine.serving;
}

bool gr_link_check_values(struct gr_link *link)
{
    GR_LOCKED(&link->values_lock);
    bool sound = have_not_fallen(link);
    link->theirs.served = link->mine.served = 0; /* signals again what the peer has decreased */
    serve(link);
    return sound;
}

/*
 * Records a value that work will wait for, before such work is enqueued; and a value that this
 * process signals, because other streams of this process wait for it.
 */
static void note_awaited(struct gr_link *link, struct gr_gauge *gauge, uint64_t value)
{
    GR_LOCKED(&link->values_lock);
    if (value > gauge->awaited)
        gauge->awaited = value;
    if (gauge == &link->theirs)
        serve(link);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Returns the value that the use of n slots waits for; 0: none. */
static uint64_t last_in(const struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        if (link->state->slots[side->numbers[i]].awaited > last)
            last = link->state->slots[side->numbers[i]].awaited;
    return last;
}

/*
 * Makes the stream `passed` wait for the work so far in `stream`, which only an event in the stream
 * itself shows. If recording fails, the device is lost and no work waits.
 */
static void follow(const struct gr_link *link, CUstream stream)
{
    if (gr_driver()->EventRecord(link->mark, stream) == CUDA_SUCCESS)
        gr_driver()->StreamWaitEvent(link->passed, link->mark, 0);
}

gr_status gr_link_check_work(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                             bool *done)
{
    const gr_resource *first = side->resources[0];
    /* This thread waits for the work of the peer if the graphics API cannot. */
    const bool waits =
        !side->is_cuda && first->backend->waits_in_thread && first->backend->waits_in_thread(first);
    const uint64_t last = waits ? last_in(link, side, n) : 0;
    struct gr_peer_probe *arriving = &link->arriving;
    *done = last == 0;
    if (*done)
        return GR_OK;
    note_awaited(link, &link->theirs, last);
    GR_ENTERED entered = 0;
    GR_TRY(gr_context_enter(&link->context, &entered));
    if (arriving->value != last) {
        if (arriving->value) /* the stream of the old query may still wait */
            follow(link, arriving->stream);
        GR_TRY(gr_peer_probe_query(arriving, link->theirs.semaphore, last));
        /* if the value has arrived, the query ends within this time */
        passes_within(arriving->after, GRACE_MS);
    }
    *done = gr_peer_probe_poll(arriving) == GR_PEER_HAS;
    /* No later use waits for these values again: the peer may decrease the semaphore at any time.
     */
    for (size_t i = 0; i < n && *done; i++)
        link->state->slots[side->numbers[i]].awaited = 0;
    return GR_OK;
}

gr_status gr_link_begin_use(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    const uint64_t last = last_in(link, side, n);
    if (last)
        note_awaited(link, &link->theirs, last);
    for (size_t i = 0; i < n && !link->in; i++) {
        const uint64_t value = link->state->slots[side->numbers[i]].awaited;
        struct gr_sync *sync = &side->resources[i]->sync;
        if (value)
            *(side->is_cuda ? &sync->drawn : &sync->computed) = value;
    }
    if (!link->in)
        return GR_OK;
    GR_ENTERED entered = 0;
    GR_TRY(gr_context_enter(&link->context, &entered));
    if (!last) /* the peer has not used the slots yet: Vulkan may have them */
        return GR_OK;
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = link->theirs.semaphore, .value = last);
    GR_TRY(point.semaphore->ops->wait(&point, 1, link->in));
    return gr_sync_release(side->resources, n, link->in);
}

/*
 * Follows each stream on which a resource was released, or is still mapped after a failure. If a
 * call failed because a stream captures a graph, adds nothing to that stream.
 */
void gr_link_follow(struct gr_link *link, const struct gr_ring_side *side, size_t n,
                    CUstream stream, bool failed)
{
    CUstream last = NULL;
    GR_ENTERED entered = 0;
    if (!gr_context_try(&link->context, &entered))
        return;
    for (size_t i = 0; i < n; i++) {
        const gr_buffer *mapped = side->resources[i]->mapped;
        const CUstream used = stream   ? stream
                              : mapped ? mapped->stream
                                       : side->resources[i]->sync.work.stream;
        if (used && used != last && (!failed || gr_event_capture(used) == CUDA_SUCCESS))
            follow(link, used);
        last = used;
    }
}

/* ---- End ------------------------------------------------------------------------------------- */

static gr_status relay_out(struct gr_link *link, gr_resource *const resources[], size_t n,
                           uint64_t *value)
{
    gr_semaphore *mine = link->mine.semaphore;
    GR_TRY(gr_sync_acquire(resources, n, link->out));
    GR_LOCKED(&mine->lock);
    gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = mine, .value = mine->signalled + 1);
    gr_status status = mine->ops->signal(&point, 1, link->out);
    if (status == GR_OK)
        *value = ++mine->signalled;
    return status;
}

gr_status gr_link_end_use(struct gr_link *link, const struct gr_ring_side *side, size_t n)
{
    uint64_t value = 0, last = 0;
    if (link->out) {
        GR_ENTERED entered = 0;
        GR_TRY(gr_context_enter(&link->context, &entered));
        GR_TRY(relay_out(link, side->resources, n, &value));
    }
    for (size_t i = 0; i < n; i++) {
        const struct gr_sync *sync = &side->resources[i]->sync;
        if (!link->out)
            value = side->is_cuda ? sync->computed : sync->drawn;
        link->state->slots[side->numbers[i]].signalled = value;
        last = value > last ? value : last;
    }
    note_awaited(link, &link->mine, last);
    return GR_OK;
}

/* ---- The last work --------------------------------------------------------------------------- */

/* Sets *event to an event after the two values that work may wait for, or to a new one. */
static gr_status event_after_values(const struct gr_link *link, CUevent *event)
{
    gr_semaphore_point points[2];
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        const struct gr_gauge *gauge = i ? &link->theirs : &link->mine;
        if (gauge->awaited)
            points[n++] =
                GR_INIT(gr_semaphore_point, .semaphore = gauge->semaphore, .value = gauge->awaited);
    }
    *event = NULL;
    return n ? gr_semaphore_event_after(points, n, NULL, event) : gr_event_create(event);
}

/*
 * Sets *event to an event after all work: the values alone do not show it, because the peer may
 * have signalled them, too. False, with NULL, after an error.
 */
static bool event_after_all(const struct gr_link *link, CUevent *event)
{
    const struct gr_driver_api *cu = gr_driver();
    if (event_after_values(link, event) != GR_OK)
        return false;
    if (link->in) {
        follow(link, link->in);
        follow(link, link->out);
    }
    if (cu->StreamWaitEvent(link->passed, *event, 0) == CUDA_SUCCESS &&
        cu->EventRecord(*event, link->passed) == CUDA_SUCCESS)
        return true;
    cu->EventDestroy(*event);
    *event = NULL;
    return false;
}

/*
 * Signals all values that the peer has not signalled yet or has decreased. Called after the time
 * limit, before the slots are ended: ending a slot may wait in the driver for all GPU work, and so
 * for a peer that lives but hangs.
 */
static void serve_all(struct gr_link *link)
{
    GR_LOCKED(&link->values_lock);
    link->theirs.serving = link->mine.serving = true;
    serve(link);
}

CUevent gr_link_last_work(struct gr_link *link)
{
    CUevent event;
    bool told = false;
    for (int tries = 0; !told && tries < MOST_TRIES; tries++)
        told = event_after_all(link, &event);
    if (!told) /* the work may still be running, but nothing waits for it any more */
        serve_all(link);
    if (!event)
        return NULL;
    if (!passes_within(event, PEER_MS)) {
        serve_all(link);
        if (!passes_within(event, GRACE_MS))
            return event;
    }
    gr_driver()->EventDestroy(event);
    return NULL;
}
