/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: their life, and signals and waits that the caller puts into a stream. */
#include "lib/sync/semaphore.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/driver.h"
#include "lib/error.h"
#include "lib/flags.h"
#include "lib/log.h"
#include "lib/stream.h"
#include "lib/sync/semaphore_rules.h"
#include "lib/retire.h"

/* Points in one call of the driver. */
#define POINTS_AT_ONCE 64

/* ---- Life ------------------------------------------------------------------------------------ */

gr_status gr_semaphore_init(gr_semaphore *semaphore, const struct gr_semaphore_ops *ops,
                            const struct gr_context *context, bool timeline, uint64_t value)
{
    if (pthread_mutex_init(&semaphore->lock, NULL) != 0)
        return gr_fail_memory(__func__);
    semaphore->ops = ops;
    semaphore->holds = 1;
    semaphore->context = *context;
    semaphore->timeline = timeline;
    semaphore->signalled = value;
    return GR_OK;
}

static void describe_imported(const gr_semaphore *semaphore, char *text, size_t size)
{
    snprintf(text, size, "external semaphore %s", gr_semaphore_type_name(semaphore->type));
}

static void destroy_imported(gr_semaphore *semaphore)
{
    free(semaphore);
}

static const struct gr_semaphore_ops imported_ops = {
    .wait = gr_semaphore_wait_imported,
    .signal = gr_semaphore_signal_imported,
    .describe = describe_imported,
    .destroy = destroy_imported,
};

gr_status gr_semaphore_make(gr_semaphore *semaphore, const struct gr_context *context,
                            const gr_semaphore_desc *info, const struct gr_semaphore_ops *ops,
                            const char *call)
{
    bool pushed;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc;
    gr_status status = gr_semaphore_check(info, call);
    if (status != GR_OK)
        return status;
    status = gr_semaphore_init(semaphore, ops ? ops : &imported_ops, context,
                               gr_semaphore_type_counts(info->type), info->value);
    if (status != GR_OK)
        return status;
    semaphore->type = info->type;
    gr_retired_collect();
    gr_semaphore_handle_desc(info, &desc);
    status = gr_context_enter(context, &pushed, call);
    if (status != GR_OK)
        goto fail;
    CUresult result = gr_driver()->ImportExternalSemaphore(&semaphore->handle, &desc);
    if (result != CUDA_SUCCESS)
        status = gr_semaphore_refused(info, result, call);
    gr_context_leave(pushed);
    if (status == GR_OK)
        return GR_OK;
fail:
    pthread_mutex_destroy(&semaphore->lock);
    return status;
}

gr_semaphore *gr_semaphore_import(const gr_semaphore_desc *info)
{
    struct gr_context context;
    if (!info) {
        gr_fail(GR_ERR_INVALID_VALUE, __func__, "`info` is NULL: describe the semaphore.");
        return NULL;
    }
    if (!gr_cuda() || gr_context_choose(&context, gr_context_first_device, __func__) != GR_OK)
        return NULL;
    gr_semaphore *semaphore = calloc(1, sizeof(*semaphore));
    if (!semaphore) {
        gr_fail_memory(__func__);
        goto fail;
    }
    if (gr_semaphore_make(semaphore, &context, info, NULL, __func__) != GR_OK)
        goto fail;
    return semaphore;
fail:
    free(semaphore);
    gr_context_drop(&context);
    return NULL;
}

void gr_semaphore_hold(gr_semaphore *semaphore)
{
    __atomic_fetch_add(&semaphore->holds, 1, __ATOMIC_RELAXED);
}

void gr_semaphore_free(gr_semaphore *semaphore)
{
    if (!semaphore || __atomic_sub_fetch(&semaphore->holds, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    const gr_cuda_api *cu = gr_driver();
    struct gr_context context = semaphore->context;
    gr_error before;
    bool pushed;
    gr_error_save(&before);
    if (gr_context_enter(&context, &pushed, __func__) == GR_OK) {
        if (semaphore->handle)
            cu->DestroyExternalSemaphore(semaphore->handle);
        if (semaphore->passed)
            cu->EventDestroy(semaphore->passed);
    }
    pthread_mutex_destroy(&semaphore->lock);
    semaphore->ops->destroy(semaphore);
    gr_context_leave(pushed);
    gr_context_drop(&context);
    gr_error_restore(&before);
}

void gr_semaphore_at_scope_end(gr_semaphore **semaphore)
{
    gr_semaphore_free(*semaphore);
    *semaphore = NULL;
}

bool gr_semaphore_is_timeline(const gr_semaphore *semaphore)
{
    return semaphore && semaphore->timeline;
}

void *gr_semaphore_handle(const gr_semaphore *semaphore)
{
    return semaphore ? (void *)semaphore->handle : NULL;
}

int gr_semaphore_describe(const gr_semaphore *semaphore, char *text, size_t size)
{
    if (!text)
        size = 0;
    if (!semaphore)
        return snprintf(text, size, "no semaphore (NULL)");
    char what[128];
    semaphore->ops->describe(semaphore, what, sizeof(what));
    pthread_mutex_lock((pthread_mutex_t *)&semaphore->lock);
    uint64_t value = semaphore->signalled;
    pthread_mutex_unlock((pthread_mutex_t *)&semaphore->lock);
    return snprintf(text, size, "%s, %s %llu%s", what,
                    semaphore->timeline ? "last value" : "signals", (unsigned long long)value,
                    gr_cuda_is_software() ? " (software CUDA driver)" : "");
}

/* ---- The driver's external semaphores -------------------------------------------------------- */

gr_status gr_semaphore_wait_imported(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    CUexternalSemaphore handles[POINTS_AT_ONCE];
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params[POINTS_AT_ONCE];
    for (size_t done = 0; done < n;) {
        unsigned count = 0;
        for (; count < POINTS_AT_ONCE && done + count < n; count++) {
            handles[count] = points[done + count].semaphore->handle;
            gr_semaphore_wait_params(&points[done + count], &params[count]);
        }
        CUresult result = gr_driver()->WaitExternalSemaphoresAsync(handles, params, count, stream);
        if (result != CUDA_SUCCESS)
            return gr_fail_cuda(result, "cuWaitExternalSemaphoresAsync",
                                "The stream could not be made to wait for %zu semaphores. An error "
                                "of earlier work on the stream is reported here too.",
                                n);
        done += count;
    }
    return GR_OK;
}

/*
 * Puts a memory barrier into the stream. Without one, the bytes of a small cuMemset that comes
 * right before the signal may be there only after it, where several processes share the GPU (seen
 * on an H200 with driver 580, docs/verified.md). A driver that refuses, since it or the device has
 * no barriers, is asked once for each semaphore.
 */
static void settle_writes(gr_semaphore *semaphore, CUstream stream)
{
    PFN_cuStreamBatchMemOp_v11070 batch = gr_driver_batch_mem_op();
    if (!batch || __atomic_load_n(&semaphore->no_barriers, __ATOMIC_RELAXED))
        return;
    CUstreamBatchMemOpParams barrier = {
        .memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER,
                          .flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS}};
    CUresult result = batch(stream, 1, &barrier, 0);
    if (result != CUDA_ERROR_NOT_SUPPORTED && result != CUDA_ERROR_INVALID_VALUE)
        return; /* another error comes again with the signal */
    __atomic_store_n(&semaphore->no_barriers, true, __ATOMIC_RELAXED);
    gr_log(GR_LOG_INFO, "no memory barriers before signals: the CUDA driver refuses them");
}

gr_status gr_semaphore_signal_imported(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    CUexternalSemaphore handles[POINTS_AT_ONCE];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params[POINTS_AT_ONCE];
    settle_writes(points[0].semaphore, stream);
    for (size_t done = 0; done < n;) {
        unsigned count = 0;
        for (; count < POINTS_AT_ONCE && done + count < n; count++) {
            handles[count] = points[done + count].semaphore->handle;
            gr_semaphore_signal_params(&points[done + count], &params[count]);
        }
        CUresult result =
            gr_driver()->SignalExternalSemaphoresAsync(handles, params, count, stream);
        if (result != CUDA_SUCCESS)
            return gr_fail_cuda(result, "cuSignalExternalSemaphoresAsync",
                                "%zu signals could not be put into the stream. An error of earlier "
                                "work on the stream is reported here too.",
                                n);
        done += count;
    }
    return GR_OK;
}

/* ---- Any semaphores -------------------------------------------------------------------------- */

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

gr_status gr_semaphore_event_after(const gr_semaphore_point points[], size_t n, CUevent *event)
{
    const gr_cuda_api *cu = gr_driver();
    CUstream stream;
    *event = NULL;
    CUresult result = cu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return gr_fail_cuda(result, "cuStreamCreate", "A stream could not be made.");
    gr_status status = gr_semaphore_enqueue(points, n, true, stream);
    if (status != GR_OK)
        goto end;
    result = cu->EventCreate(event, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS)
        result = cu->EventRecord(*event, stream);
    if (result == CUDA_SUCCESS)
        goto end;
    status = gr_fail_cuda(result, "cuEventRecord", "An event could not be had.");
    if (*event)
        cu->EventDestroy(*event);
    *event = NULL;
end:
    cu->StreamDestroy(stream); /* what it was given is still done */
    return status;
}

/* ---- Points by hand -------------------------------------------------------------------------- */

static gr_status check_points(const gr_semaphore_point points[], size_t n, bool is_wait,
                              CUstream stream, const char *call)
{
    if (!points || n == 0)
        return gr_fail(GR_ERR_INVALID_VALUE, call, "There are no points: %s.",
                       points ? "n is 0" : "`points` is NULL");
    for (size_t i = 0; i < n; i++) {
        if (!points[i].semaphore)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "The semaphore of point %zu is NULL: did the call that makes it fail?",
                           i);
        if (points[i].semaphore->context.handle != points[0].semaphore->context.handle)
            return gr_fail(GR_ERR_INVALID_VALUE, call,
                           "The semaphores belong to different CUDA contexts: make a call for "
                           "each.");
        gr_status status = gr_semaphore_check_point(&points[i], is_wait, call);
        if (status != GR_OK)
            return status;
    }
    return gr_stream_check(stream, false, call);
}

/*
 * The value before this point: that of an earlier point of the call, else the last one signalled.
 */
static uint64_t value_before(const gr_semaphore_point points[], size_t i)
{
    gr_semaphore *semaphore = points[i].semaphore;
    for (size_t earlier = i; earlier-- > 0;)
        if (points[earlier].semaphore == semaphore)
            return points[earlier].value;
    pthread_mutex_lock(&semaphore->lock);
    uint64_t value = semaphore->signalled;
    pthread_mutex_unlock(&semaphore->lock);
    return value;
}

static gr_status check_values_grow(const gr_semaphore_point points[], size_t n, const char *call)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t before = points[i].semaphore->timeline ? value_before(points, i) : 0;
        if (points[i].semaphore->timeline && points[i].value <= before)
            return gr_fail(
                GR_ERR_INVALID_VALUE, call,
                "The value %llu is not greater than %llu, the last one that was signalled: a "
                "timeline's values only grow.",
                (unsigned long long)points[i].value, (unsigned long long)before);
    }
    return GR_OK;
}

static void note_signals(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    for (size_t i = 0; i < n; i++) {
        gr_semaphore *semaphore = points[i].semaphore;
        pthread_mutex_lock(&semaphore->lock);
        if (!semaphore->timeline)
            semaphore->signalled++;
        else if (points[i].value > semaphore->signalled)
            semaphore->signalled = points[i].value;
        semaphore->last = stream;
        pthread_mutex_unlock(&semaphore->lock);
    }
}

gr_status gr_semaphore_signal(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    bool pushed;
    gr_status status = check_points(points, n, false, stream, __func__);
    if (status == GR_OK)
        status = check_values_grow(points, n, __func__);
    if (status == GR_OK)
        status = gr_context_enter(&points[0].semaphore->context, &pushed, __func__);
    if (status != GR_OK)
        return status;
    status = gr_semaphore_enqueue(points, n, false, stream);
    gr_context_leave(pushed);
    if (status == GR_OK)
        note_signals(points, n, stream);
    return status;
}

gr_status gr_semaphore_wait(const gr_semaphore_point points[], size_t n, CUstream stream)
{
    bool pushed;
    gr_status status = check_points(points, n, true, stream, __func__);
    if (status == GR_OK)
        status = gr_context_enter(&points[0].semaphore->context, &pushed, __func__);
    if (status != GR_OK)
        return status;
    status = gr_semaphore_enqueue(points, n, true, stream);
    gr_context_leave(pushed);
    return status;
}
