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
#define _POSIX_C_SOURCE 200809L
#include "lib/peer/semaphores.h"

#include <time.h>

#include "lib/base/clock.h"
#include "lib/cuda/driver.h"
#include "lib/base/error.h"
#include "lib/cuda/event.h"
#include "lib/external/external.h"
#include "lib/sync/semaphore_points.h"

/* The time limit, in milliseconds, for work that should already be done. */
#define GRACE_MS 5

/* The time, in milliseconds, that the end of a ring waits for a living peer. */
#define PEER_MS 2000

/* The maximum number of attempts of a driver call: if the device is lost, every attempt fails. */
#define MOST_TRIES 3

/* ---- Querying and signalling ----------------------------------------------------------------- */

/*
 * Whether an event passes within `ms` milliseconds. The event is queried at least twice. If the
 * driver keeps failing, its device is lost and no work waits, so the result is true.
 */
static bool passes_within(CUevent event, double ms)
{
    const struct timespec pause = {.tv_nsec = 100000};
    double end = gr_clock_ms() + ms;
    CUresult result;
    int refusals = 0;
    bool late = false;
    while ((result = gr_driver()->EventQuery(event)) != CUDA_SUCCESS) {
        if (result != CUDA_ERROR_NOT_READY && ++refusals == MOST_TRIES)
            return true;
        if (late)
            return false;
        late = gr_clock_ms() >= end;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Signals from a stream, and from the host if the CUDA context has failed meanwhile. */
static void signal_point(const gr_semaphore_point *point)
{
    const struct gr_semaphore_ops *ops = point->semaphore->ops;
    CUstream stream = NULL;
    bool done = gr_driver()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
                ops->signal(point, 1, stream) == GR_OK;
    if (stream)
        gr_driver()->StreamDestroy(stream);
    if (ops->signal_in_place && (!done || gr_context_has_failed(&point->semaphore->context)))
        ops->signal_in_place(point->semaphore, point->value);
}

/* ---- Life ------------------------------------------------------------------------------------ */

void gr_peer_semaphores_init(struct gr_peer_semaphores *semaphores,
                             const struct gr_context *context, struct gr_semaphore_pair *pair,
                             bool is_cuda, struct gr_semaphore_pair *relayed)
{
    *semaphores = (struct gr_peer_semaphores){
        .context = context,
        .mine = is_cuda ? pair->release : pair->acquire,
        .theirs = is_cuda ? pair->acquire : pair->release,
        .relayed = {relayed ? relayed->acquire : NULL, relayed ? relayed->release : NULL},
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    gr_semaphore_hold(semaphores->mine);
    gr_semaphore_hold(semaphores->theirs);
    gr_semaphore_hold(semaphores->relayed[0]);
    gr_semaphore_hold(semaphores->relayed[1]);
}

static CUresult make_streams(struct gr_peer_semaphores *semaphores, bool relays)
{
    const gr_cuda_api *cu = gr_driver();
    CUresult result = cu->EventCreate(&semaphores->mark, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->StreamCreate(&semaphores->passed, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS && relays)
        result = cu->StreamCreate(&semaphores->out, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS && relays)
        result = cu->StreamCreate(&semaphores->in, CU_STREAM_NON_BLOCKING);
    return result;
}

gr_status gr_peer_semaphores_start(struct gr_peer_semaphores *semaphores, bool relays,
                                   const char *call)
{
    GR_ENTERED pushed = false;
    GR_TRY(gr_context_enter(semaphores->context, &pushed, call));
    CUresult result = make_streams(semaphores, relays);
    if (result == CUDA_SUCCESS)
        return GR_OK;
    return gr_fail_cuda(result, "cuStreamCreate", "Cannot create the ring's streams.");
}

/*
 * Ends a probe. Signals the value of an open query first: a pending wait occupies the GPU, and
 * later driver calls may wait for it.
 */
static void end_probe(struct gr_peer_probe *probe, gr_semaphore *semaphore)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = probe->value);
    if (probe->value && !passes_within(probe->after, GRACE_MS))
        signal_point(&point);
    gr_peer_probe_end(probe);
}

static void end_streams(struct gr_peer_semaphores *semaphores)
{
    const gr_cuda_api *cu = gr_driver();
    GR_ENTERED pushed = false;
    if (!semaphores->mark || gr_context_enter(semaphores->context, &pushed, __func__) != GR_OK)
        return;
    end_probe(&semaphores->arriving, semaphores->theirs);
    end_probe(&semaphores->of_mine.coming, semaphores->mine);
    end_probe(&semaphores->of_mine.again, semaphores->mine);
    end_probe(&semaphores->of_theirs.coming, semaphores->theirs);
    end_probe(&semaphores->of_theirs.again, semaphores->theirs);
    if (semaphores->out)
        cu->StreamDestroy(semaphores->out);
    if (semaphores->in)
        cu->StreamDestroy(semaphores->in);
    if (semaphores->passed)
        cu->StreamDestroy(semaphores->passed);
    cu->EventDestroy(semaphores->mark);
}

void gr_peer_semaphores_finish(struct gr_peer_semaphores *semaphores, bool alive)
{
    if (alive)
        end_streams(semaphores);
    gr_semaphore_drop(semaphores->mine);
    gr_semaphore_drop(semaphores->theirs);
    gr_semaphore_drop(semaphores->relayed[0]);
    gr_semaphore_drop(semaphores->relayed[1]);
    pthread_mutex_destroy(&semaphores->lock);
}

/* ---- A peer that is gone --------------------------------------------------------------------- */

/*
 * Signals `awaited` in the peer's place, but only if the peer has not done so: a smaller value must
 * not overwrite a larger one. If the driver fails, streams keep waiting, and nothing else can be
 * done. The lock is held.
 */
static void signal_one_for_peer(struct gr_peer_gauge *gauge, gr_semaphore *semaphore)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphore, .value = gauge->awaited);
    CUevent event;
    if (gauge->awaited <= gauge->served)
        return;
    gr_semaphore_event_after(&point, 1, &event);
    if (!event || !passes_within(event, GRACE_MS))
        signal_point(&point);
    if (event)
        gr_driver()->EventDestroy(event);
    gauge->served = gauge->awaited;
}

/* Signals both semaphores as far as necessary, in the peer's place. The lock is held. */
static void serve(struct gr_peer_semaphores *semaphores)
{
    GR_ENTERED pushed = false;
    if (!semaphores->serving || gr_context_enter(semaphores->context, &pushed, __func__) != GR_OK)
        return;
    signal_one_for_peer(&semaphores->of_theirs, semaphores->theirs);
    if (semaphores->serving_mine)
        signal_one_for_peer(&semaphores->of_mine, semaphores->mine);
}

void gr_peer_semaphores_signal(struct gr_peer_semaphores *semaphores)
{
    pthread_mutex_lock(&semaphores->lock);
    semaphores->serving = true;
    serve(semaphores);
    pthread_mutex_unlock(&semaphores->lock);
}

/*
 * False if the semaphore has fallen back to a smaller value. The context is current, and the lock
 * is held.
 */
static bool has_not_fallen(struct gr_peer_gauge *gauge, gr_semaphore *semaphore)
{
    struct gr_peer_probe *coming = &gauge->coming, *again = &gauge->again;
    if (!coming->value && gauge->awaited > gauge->reached)
        gr_peer_probe_query(coming, semaphore, gauge->awaited);
    uint64_t value = coming->value;
    if (gr_peer_probe_poll(coming) == GR_PEER_HAS)
        gauge->reached = value;
    if (!again->value && gauge->reached)
        gr_peer_probe_query(again, semaphore, gauge->reached);
    return gr_peer_probe_poll(again) != GR_PEER_LACKS;
}

/* Whether neither semaphore has fallen back to a smaller value. The lock is held. */
static bool have_not_fallen(struct gr_peer_semaphores *semaphores)
{
    GR_ENTERED pushed = false;
    bool sound = true;
    if ((!semaphores->of_theirs.awaited && !semaphores->of_mine.awaited) ||
        gr_context_enter(semaphores->context, &pushed, __func__) != GR_OK)
        return true;
    if (!semaphores->serving)
        sound = has_not_fallen(&semaphores->of_theirs, semaphores->theirs);
    if (!semaphores->serving_mine)
        semaphores->serving_mine = !has_not_fallen(&semaphores->of_mine, semaphores->mine);
    return sound && !semaphores->serving_mine;
}

bool gr_peer_semaphores_check(struct gr_peer_semaphores *semaphores)
{
    pthread_mutex_lock(&semaphores->lock);
    bool sound = have_not_fallen(semaphores);
    if (semaphores->serving) {
        semaphores->of_theirs.served = semaphores->of_mine.served = 0;
        serve(semaphores);
    }
    pthread_mutex_unlock(&semaphores->lock);
    return sound;
}

/* Records a value that this process signals, because other streams of this process wait for it. */
static void note_signalled(struct gr_peer_semaphores *semaphores, uint64_t value)
{
    pthread_mutex_lock(&semaphores->lock);
    if (value > semaphores->of_mine.awaited)
        semaphores->of_mine.awaited = value;
    pthread_mutex_unlock(&semaphores->lock);
}

/* Records a value that work will wait for. Call this function before such work is enqueued. */
static void note_awaited(struct gr_peer_semaphores *semaphores, uint64_t value)
{
    GR_KEEP_ERROR();
    pthread_mutex_lock(&semaphores->lock);
    if (value > semaphores->of_theirs.awaited)
        semaphores->of_theirs.awaited = value;
    serve(semaphores);
    pthread_mutex_unlock(&semaphores->lock);
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static gr_status relay_in(struct gr_peer_semaphores *semaphores, gr_resource *const resources[],
                          size_t n, uint64_t value)
{
    const gr_semaphore_point point =
        GR_INIT(gr_semaphore_point, .semaphore = semaphores->theirs, .value = value);
    if (value)
        GR_TRY(semaphores->theirs->ops->wait(&point, 1, semaphores->in));
    return gr_sync_release(resources, n, semaphores->in);
}

static void wait_directly(bool is_cuda, gr_resource *resource, uint64_t value)
{
    struct gr_sync *sync = gr_sync_of(resource);
    if (value)
        *(is_cuda ? &sync->drawn : &sync->computed) = value;
}

/* Returns the value that the use of n slots waits for; 0: none. */
static uint64_t last_in(const struct gr_page_view *view, const struct gr_ring_side *side, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++)
        if (view->state->slots[side->numbers[i]].awaited > last)
            last = view->state->slots[side->numbers[i]].awaited;
    return last;
}

/*
 * Makes the stream `passed` wait for the work so far in `stream`, which only an event in the stream
 * itself shows. If recording fails, the device is lost and no work waits.
 */
static void follow(const struct gr_peer_semaphores *semaphores, CUstream stream)
{
    if (gr_driver()->EventRecord(semaphores->mark, stream) == CUDA_SUCCESS)
        gr_driver()->StreamWaitEvent(semaphores->passed, semaphores->mark, 0);
}

/*
 * Forgets values that have arrived, so that no later use waits for them: the peer may decrease the
 * semaphore at any time.
 */
static void forget_in(const struct gr_page_view *view, const struct gr_ring_side *side, size_t n)
{
    for (size_t i = 0; i < n; i++)
        view->state->slots[side->numbers[i]].awaited = 0;
}

gr_status gr_peer_semaphores_are_done(struct gr_peer_semaphores *semaphores,
                                      const struct gr_page_view *view,
                                      const struct gr_ring_side *side, size_t n, bool *come,
                                      const char *call)
{
    struct gr_peer_probe *arriving = &semaphores->arriving;
    uint64_t last = last_in(view, side, n);
    GR_ENTERED pushed = false;
    *come = last == 0;
    if (*come)
        return GR_OK;
    note_awaited(semaphores, last);
    GR_TRY(gr_context_enter(semaphores->context, &pushed, call));
    gr_status status = GR_OK;
    if (arriving->value != last) {
        if (arriving->value) /* the stream of the old query may still wait */
            follow(semaphores, arriving->stream);
        status = gr_peer_probe_query(arriving, semaphores->theirs, last);
        if (status == GR_OK)
            passes_within(arriving->after,
                          GRACE_MS); /* a value that has arrived is reported within this time */
    }
    *come = gr_peer_probe_poll(arriving) == GR_PEER_HAS;
    if (*come)
        forget_in(view, side, n);
    return status;
}

gr_status gr_peer_semaphores_begin_use(struct gr_peer_semaphores *semaphores,
                                       const struct gr_page_view *view,
                                       const struct gr_ring_side *side, size_t n, const char *call)
{
    uint64_t last = last_in(view, side, n);
    GR_ENTERED pushed = false;
    if (last)
        note_awaited(semaphores, last);
    for (size_t i = 0; i < n && !semaphores->in; i++)
        wait_directly(side->is_cuda, side->resources[i],
                      view->state->slots[side->numbers[i]].awaited);
    if (!semaphores->in)
        return GR_OK;
    GR_TRY(gr_context_enter(semaphores->context, &pushed, call));
    return relay_in(semaphores, side->resources, n, last);
}

void gr_peer_semaphores_follow(struct gr_peer_semaphores *semaphores, CUstream stream, bool failed)
{
    GR_ENTERED pushed = false;
    if (gr_context_enter(semaphores->context, &pushed, __func__) != GR_OK)
        return;
    if (!failed || gr_event_capture(stream) == CUDA_SUCCESS)
        follow(semaphores, stream);
}

/* ---- End ------------------------------------------------------------------------------------- */

static gr_status relay_out(struct gr_peer_semaphores *semaphores, gr_resource *const resources[],
                           size_t n, uint64_t *value)
{
    GR_TRY(gr_sync_acquire(resources, n, semaphores->out));
    pthread_mutex_lock(&semaphores->mine->lock);
    gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphores->mine,
                                       .value = semaphores->mine->signalled + 1);
    gr_status status = semaphores->mine->ops->signal(&point, 1, semaphores->out);
    if (status == GR_OK)
        *value = ++semaphores->mine->signalled;
    pthread_mutex_unlock(&semaphores->mine->lock);
    return status;
}

gr_status gr_peer_semaphores_end_use(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view,
                                     const struct gr_ring_side *side, size_t n, const char *call)
{
    bool pushed;
    uint64_t value = 0;
    if (semaphores->out) {
        GR_TRY(gr_context_enter(semaphores->context, &pushed, call));
        gr_status status = relay_out(semaphores, side->resources, n, &value);
        gr_context_leave(pushed);
        if (status != GR_OK)
            return status;
    }
    for (size_t i = 0; i < n; i++) {
        const struct gr_sync *sync = gr_sync_of(side->resources[i]);
        if (!semaphores->out)
            value = side->is_cuda ? sync->computed : sync->drawn;
        view->state->slots[side->numbers[i]].signalled = value;
        note_signalled(semaphores, value);
    }
    return GR_OK;
}

/* ---- The last work --------------------------------------------------------------------------- */

static uint64_t last_out(const struct gr_page_view *view)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < view->count; i++)
        if (view->state->slots[i].signalled > last)
            last = view->state->slots[i].signalled;
    return last;
}

/* Records the event once more, after all waits of the streams. */
static bool record_after_streams(const struct gr_peer_semaphores *semaphores, CUevent event)
{
    const gr_cuda_api *cu = gr_driver();
    if (semaphores->in) {
        follow(semaphores, semaphores->in);
        follow(semaphores, semaphores->out);
    }
    return cu->StreamWaitEvent(semaphores->passed, event, 0) == CUDA_SUCCESS &&
           cu->EventRecord(event, semaphores->passed) == CUDA_SUCCESS;
}

/* Sets *event to an event after all work, or to NULL if there is no work. False after an error. */
static bool event_after_all(const struct gr_peer_semaphores *semaphores,
                            const struct gr_page_view *view, CUevent *event)
{
    const gr_semaphore_point all[] = {
        {.semaphore = semaphores->mine, .value = last_out(view)},
        {.semaphore = semaphores->theirs, .value = semaphores->of_theirs.awaited}};
    gr_semaphore_point points[2];
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        if (all[i].value)
            points[n++] = all[i];
    *event = NULL;
    if (!n)
        return true;
    if (gr_semaphore_event_after(points, n, event) != GR_OK)
        return false;
    if (record_after_streams(semaphores, *event))
        return true;
    gr_driver()->EventDestroy(*event);
    *event = NULL;
    return false;
}

/*
 * Signals all values that the peer has not signalled yet or has decreased. Called after the time
 * limit, before the slots are ended: ending a slot may wait in the driver for all GPU work, and so
 * for a peer that lives but hangs.
 */
static void signal_all_for_peer(struct gr_peer_semaphores *semaphores)
{
    pthread_mutex_lock(&semaphores->lock);
    semaphores->serving = semaphores->serving_mine = true;
    serve(semaphores);
    pthread_mutex_unlock(&semaphores->lock);
}

CUevent gr_peer_semaphores_last_work(struct gr_peer_semaphores *semaphores,
                                     const struct gr_page_view *view)
{
    CUevent event;
    bool told = false;
    for (int tries = 0; !told && tries < MOST_TRIES; tries++)
        told = event_after_all(semaphores, view, &event);
    if (!told) /* the work may still be running, but nothing waits for it any more */
        signal_all_for_peer(semaphores);
    if (!event)
        return NULL;
    if (!passes_within(event, PEER_MS)) {
        signal_all_for_peer(semaphores);
        if (!passes_within(event, GRACE_MS))
            return event;
    }
    gr_driver()->EventDestroy(event);
    return NULL;
}
