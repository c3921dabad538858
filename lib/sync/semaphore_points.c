/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Enqueues signals and waits of semaphores on streams. */
#include "lib/sync/sync.h"

#include <stdatomic.h>

#include "lib/cuda/driver.h"
#include "lib/cuda/event.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/fork.h"
#include "lib/resource/stream.h"
#include "lib/base/struct_size.h"
#include "lib/base/lock.h"

uint64_t gr_semaphore_last(const gr_semaphore *semaphore)
{
    GR_LOCKED((struct gr_lock *)&semaphore->lock);
    return semaphore->signalled;
}

/* ---- External semaphores of the driver ------------------------------------------------------- */

static size_t at_once(size_t n)
{
    return n < GR_POINTS_AT_ONCE ? n : GR_POINTS_AT_ONCE;
}

gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    CUexternalSemaphore handles[GR_POINTS_AT_ONCE];
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params[GR_POINTS_AT_ONCE];
    for (size_t done = 0; done < n; done += at_once(n - done)) {
        for (size_t i = 0; i < at_once(n - done); i++) {
            handles[i] = points[done + i].semaphore->handle;
            gr_semaphore_wait_params(&points[done + i], &params[i]);
        }
        GR_TRY_WORK(gr_driver()->WaitExternalSemaphoresAsync(handles, params,
                                                             (unsigned)at_once(n - done), stream),
                    "cuWaitExternalSemaphoresAsync",
                    "The stream could not wait for %zu semaphore%s.", n, gr_s(n));
    }
    return GR_OK;
}

/*
 * Enqueues a memory barrier. Without it the bytes of a small cuMemset right before the signal may
 * arrive after the signal if several processes share the GPU (seen on an H200 with driver 580,
 * docs/driver.md). If the driver or the device has no barriers, tries only once per semaphore.
 */
static void enqueue_barrier(gr_semaphore *semaphore, CUstream stream)
{
    if (atomic_load_explicit(&semaphore->no_barriers, memory_order_relaxed))
        return;
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    CUresult result = gr_driver()->StreamBatchMemOp(stream, 1, &barrier, 0);
    if (result != CUDA_ERROR_NOT_SUPPORTED && result != CUDA_ERROR_INVALID_VALUE)
        return; /* the following signal reports other errors */
    atomic_store_explicit(&semaphore->no_barriers, true, memory_order_relaxed);
    gr_log(GR_LOG_INFO, "no memory barriers before signals: the CUDA driver rejects them");
}

gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    CUexternalSemaphore handles[GR_POINTS_AT_ONCE];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params[GR_POINTS_AT_ONCE];
    enqueue_barrier(points[0].semaphore, stream);
    for (size_t done = 0; done < n; done += at_once(n - done)) {
        for (size_t i = 0; i < at_once(n - done); i++) {
            handles[i] = points[done + i].semaphore->handle;
            gr_semaphore_signal_params(&points[done + i], &params[i]);
        }
        GR_TRY_WORK(gr_driver()->SignalExternalSemaphoresAsync(handles, params,
                                                               (unsigned)at_once(n - done), stream),
                    "cuSignalExternalSemaphoresAsync", "%zu signal%s could not be enqueued.", n,
                    gr_s(n));
    }
    return GR_OK;
}

/* ---- All kinds of semaphores ----------------------------------------------------------------- */

gr_status gr_semaphore_enqueue(const gr_semaphore_point points[], size_t n, bool is_wait,
                               CUstream stream)
{
    gr_status status = GR_OK;
    for (size_t i = 0, count; i < n && status == GR_OK; i += count) {
        const struct gr_semaphore_ops *ops = points[i].semaphore->ops;
        for (count = 1; i + count < n && points[i + count].semaphore->ops == ops; count++)
            ;
        status = (is_wait ? ops->wait : ops->signal)(points + i, count, stream);
    }
    return status;
}

/* Waits of two streams come one after the other: either could take the signal of the other. */
gr_status gr_sync_consume(gr_semaphore *semaphore, uint64_t number, CUstream stream)
{
    const gr_semaphore_point point = GR_INIT(gr_semaphore_point, .semaphore = semaphore);
    GR_TRY(gr_work_follow(&semaphore->passed, stream));
    if (number <= semaphore->waited)
        return GR_OK;
    GR_TRY(gr_event_create(&semaphore->passed.event));
    GR_TRY(semaphore->ops->wait(&point, 1, stream));
    semaphore->waited = number;
    return gr_work_mark_or_finish(&semaphore->passed, stream);
}

gr_status gr_sync_wait_binary(gr_semaphore *semaphore, uint64_t number, CUstream stream)
{
    GR_LOCKED(&semaphore->lock);
    return gr_sync_consume(semaphore, number, stream);
}

gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent earlier,
                                   CUevent *event)
{
    const struct gr_driver_api *cu = gr_driver();
    CUstream stream;
    *event = NULL;
    GR_TRY_CUDA(cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
                "A stream could not be created.");
    gr_status status = gr_event_wait(stream, earlier);
    if (status == GR_OK)
        status = points->semaphore->timeline
                     ? gr_semaphore_enqueue(points, n, true, stream)
                     : gr_sync_wait_binary(points->semaphore, points->value, stream);
    if (status != GR_OK)
        goto end;
    struct gr_last_work work = {0};
    status = gr_work_mark(&work, stream);
    *event = gr_work_take(&work);
    gr_work_end(&work, true);
end:
    cu->StreamDestroy(stream); /* the driver completes enqueued work of a destroyed stream */
    return status;
}

/* ---- Points of the program ------------------------------------------------------------------- */

static gr_status take_point(const gr_semaphore_point points[], size_t i, gr_semaphore_point *own)
{
    return GR_TAKE_AT(gr_semaphore_point, own, points, i);
}

static gr_status check_point(const gr_semaphore_point *point, const gr_semaphore_point *first,
                             size_t i, bool is_wait)
{
    GR_REFUSE_IF(gr_semaphore_is_none(point->semaphore),
                 "The semaphore of point %zu is %s: did its creation fail?", i,
                 point->semaphore ? "GR_SEMAPHORE_NONE" : "NULL");
    GR_TRY(gr_semaphore_check_given(point->semaphore));
    GR_REFUSE_IF(
        !gr_context_same(&point->semaphore->context, &first->semaphore->context),
        "The semaphores belong to different CUDA contexts: make a separate call for each context.");
    return gr_semaphore_check_point(point, is_wait);
}

static gr_status check_value_grows(const gr_semaphore_point points[], size_t i,
                                   const gr_semaphore_point *point)
{
    gr_semaphore_point earlier;
    if (!point->semaphore->timeline)
        return GR_OK;
    uint64_t before = gr_semaphore_last(point->semaphore);
    while (i-- > 0) /* earlier points of the call, which were checked, have grown it */
        if (take_point(points, i, &earlier) == GR_OK && earlier.semaphore == point->semaphore) {
            before = earlier.value;
            break;
        }
    GR_REFUSE_IF(point->value <= before,
                 "The value %llu is not greater than %llu, the last one signalled: a timeline's "
                 "values only grow.",
                 (unsigned long long)point->value, (unsigned long long)before);
    return GR_OK;
}

/* Checks all points. *first receives the first point, in this library's version of the struct. */
static gr_status check_points(const gr_semaphore_point points[], size_t n, bool is_wait,
                              gr_semaphore_point *first, CUstream stream)
{
    GR_REFUSE_IF(!points || n == 0, "There are no points: %s.",
                 points ? "n is 0. Pass the length of `points`" : "`points` is NULL");
    gr_status status = gr_fork_check();
    for (size_t i = 0; i < n && status == GR_OK; i++) {
        gr_semaphore_point own;
        status = take_point(points, i, &own);
        if (i == 0)
            *first = own;
        if (status == GR_OK)
            status = check_point(&own, first, i, is_wait);
        if (status == GR_OK && !is_wait)
            status = check_value_grows(points, i, &own);
    }
    return status == GR_OK ? gr_stream_check_given(stream, false) : status;
}

static void note_signals(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        gr_semaphore *semaphore = points[i].semaphore;
        gr_lock(&semaphore->lock);
        if (!semaphore->timeline)
            semaphore->signalled++;
        else if (points[i].value > semaphore->signalled)
            semaphore->signalled = points[i].value;
        semaphore->last = stream;
        semaphore->last_value = points[i].value;
        gr_unlock(&semaphore->lock);
    }
}

static gr_status enqueue_by_hand(const gr_semaphore_point points[], size_t n, bool is_wait,
                                 CUstream stream)
{
    gr_semaphore_point first = {0}, own[GR_POINTS_AT_ONCE];
    gr_status status = GR_OK;
    GR_TRY(check_points(points, n, is_wait, &first, stream));
    GR_ENTER(&first.semaphore->context);
    GR_TRY(gr_stream_check_capture(stream));
    for (size_t done = 0, count; done < n && status == GR_OK; done += count) {
        count = at_once(n - done);
        for (size_t i = 0; i < count && status == GR_OK; i++)
            status = take_point(points, done + i, &own[i]);
        if (status != GR_OK)
            break;
        status = gr_semaphore_enqueue(own, count, is_wait, stream);
        /* also after an error, because the stream may contain some of the points */
        for (size_t i = 0; i < count; i++)
            if (own[i].semaphore->handle && (i == 0 || own[i].semaphore != own[i - 1].semaphore))
                gr_uses_add(&own[i].semaphore->uses, stream, true);
        if (status == GR_OK && !is_wait)
            note_signals(own, count, stream);
    }
    return status;
}

gr_status gr_semaphore_signal(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    GR_CALL();
    return enqueue_by_hand(points, n, false, stream);
}

gr_status gr_semaphore_wait(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    GR_CALL();
    return enqueue_by_hand(points, n, true, stream);
}
