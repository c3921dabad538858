/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Events. A record creates a mark, and the stream completes the mark when it reaches the record. A
 * wait uses the latest mark at the time of the call. So neither a new record nor the destruction of
 * the event changes an earlier wait. The marks of an event that is shared with other processes are
 * numbers in shared memory: shared_event.c.
 */
#include "softcuda/driver/graph/graph.h"
#include "softcuda/driver/stream/event.h"
#include "softcuda/driver/stream/scheduler.h"

#include <stdlib.h>
#include <time.h>

typedef struct soft_mark {
    struct soft_mark *next; /* in the list of unused marks */
    unsigned holders;
    bool done;
    uint64_t nanoseconds; /* the time of completion */
    pthread_cond_t completed;
} soft_mark;

struct soft_event {
    soft_event *next;
    soft_event *previous;
    soft_context *context;
    CUevent handle;
    unsigned flags;
    soft_mark *last;              /* NULL until the event is recorded */
    soft_capture_point *captured; /* set if the last record was captured */
    soft_shared_event *shared;    /* used instead of marks; NULL if the event is not shared */
};

static soft_mark *unused_marks;

/* ---- Marks; called with the lock held -------------------------------------------------------- */

static soft_mark *mark_new(void)
{
    soft_mark *mark = unused_marks;
    if (mark) {
        unused_marks = mark->next;
    } else {
        mark = malloc(sizeof(*mark));
        if (!mark)
            return NULL;
        pthread_cond_init(&mark->completed, NULL);
    }
    mark->holders = 1;
    mark->done = false;
    return mark;
}

static void mark_drop(soft_mark *mark)
{
    if (!mark || --mark->holders)
        return;
    mark->next = unused_marks;
    unused_marks = mark;
}

static void mark_wait(soft_mark *mark)
{
    mark->holders++;
    while (!mark->done)
        pthread_cond_wait(&mark->completed, &soft_lock);
    mark_drop(mark);
}

/* The tasks of a record and of a wait. Each drops one reference to its mark. */

static void run_complete(void *argument)
{
    soft_mark *mark = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    SOFT_LOCK(&soft_lock);
    mark->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    mark->done = true;
    pthread_cond_broadcast(&mark->completed);
    mark_drop(mark);
}

static void run_wait(void *argument)
{
    SOFT_LOCK(&soft_lock);
    mark_wait(argument);
    mark_drop(argument);
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

static SOFT_GETTER(get_event, CUevent, soft_event *, SOFT_KIND_EVENT, CUDA_ERROR_INVALID_HANDLE)

static void add_to_context(soft_event *event)
{
    SOFT_LOCK(&soft_lock);
    event->next = event->context->events;
    if (event->next)
        event->next->previous = event;
    event->context->events = event;
}

CUresult soft_event_new(soft_context *context, unsigned flags, soft_shared_event *shared,
                        CUevent *handle)
{
    soft_event *event = calloc(1, sizeof(*event));
    CUevent made = event ? soft_handle_new(SOFT_KIND_EVENT, event) : NULL;
    if (!made) {
        free(event);
        soft_shared_event_drop(shared);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    event->handle = made;
    event->context = context;
    event->flags = flags;
    event->shared = shared;
    add_to_context(event);
    *handle = made;
    return CUDA_SUCCESS;
}

SOFT_API cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    bool timed = !(Flags & CU_EVENT_DISABLE_TIMING);
    SOFT_FAIL_IF(!phEvent || (Flags & ~known) || ((Flags & CU_EVENT_INTERPROCESS) && timed),
                 CUDA_ERROR_INVALID_VALUE);
    soft_shared_event *shared = NULL;
    if (Flags & CU_EVENT_INTERPROCESS)
        SOFT_TRY(soft_shared_event_new(context->device, &shared));
    return soft_event_new(context, Flags, shared, phEvent);
}

static CUresult destroy(CUevent handle)
{
    soft_event *event = soft_handle_drop(SOFT_KIND_EVENT, handle);
    SOFT_FAIL_IF(!event, CUDA_ERROR_INVALID_HANDLE);
    pthread_mutex_lock(&soft_lock);
    if (event->next)
        event->next->previous = event->previous;
    if (event->previous)
        event->previous->next = event->next;
    else
        event->context->events = event->next;
    mark_drop(event->last);
    pthread_mutex_unlock(&soft_lock);
    soft_capture_forget(&event->captured);
    soft_shared_event_drop(event->shared);
    free(event);
    return CUDA_SUCCESS;
}

void soft_event_destroy_all(soft_context *context)
{
    for (;;) {
        pthread_mutex_lock(&soft_lock);
        CUevent handle = context->events ? context->events->handle : NULL;
        pthread_mutex_unlock(&soft_lock);
        if (!handle)
            return;
        destroy(handle);
    }
}

SOFT_API cuEventDestroy_v2(CUevent hEvent)
{
    SOFT_TRY(soft_check_init());
    return destroy(hEvent);
}

SOFT_API_v1(cuEventDestroy, (CUevent hEvent), (hEvent))

CUresult soft_event_describe(CUevent handle, soft_ipc_handle *description)
{
    SOFT_GET(soft_event *, event, get_event(handle, &event));
    const soft_ipc_handle *found = event->shared ? soft_shared_event_handle(event->shared) : NULL;
    SOFT_FAIL_IF(!found, CUDA_ERROR_INVALID_HANDLE);
    *description = *found;
    return CUDA_SUCCESS;
}

/* ---- Record and wait ------------------------------------------------------------------------- */

/* A record or wait can have one flag, which is only valid while the stream is being captured. */
static CUresult check_flags(const soft_stream *stream, unsigned flags)
{
    if (flags == CU_EVENT_RECORD_EXTERNAL)
        return stream->capture ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
    return flags == CU_EVENT_RECORD_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult record(soft_event *event, soft_stream *stream)
{
    pthread_mutex_lock(&soft_lock);
    soft_mark *mark = mark_new();
    if (mark)
        mark->holders++; /* references: one for the event, one for the task */
    pthread_mutex_unlock(&soft_lock);
    SOFT_FAIL_IF(!mark, CUDA_ERROR_OUT_OF_MEMORY);

    CUresult result = soft_stream_push(stream, run_complete, mark);
    SOFT_LOCK(&soft_lock);
    if (result == CUDA_SUCCESS) {
        mark_drop(event->last);
        event->last = mark;
    } else {
        mark->holders = 1;
        mark_drop(mark);
    }
    return result;
}

SOFT_API_ptsz(cuEventRecordWithFlags, (CUevent hEvent, CUstream hStream, unsigned int flags),
              (hEvent, hStream, flags))
{
    SOFT_GET(soft_event *, event, get_event(hEvent, &event));
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_TRY(check_flags(stream, flags));
    SOFT_FAIL_IF(event->context != soft_stream_context(stream), CUDA_ERROR_INVALID_HANDLE);
    if (flags == CU_EVENT_RECORD_EXTERNAL)
        return soft_capture_add(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                &(soft_node_work){.event = hEvent});
    if (stream->capture)
        return soft_capture_record(stream, &event->captured);
    soft_capture_forget(&event->captured);
    return event->shared ? soft_shared_event_record(event->shared, stream) : record(event, stream);
}

SOFT_API_ptsz(cuEventRecord, (CUevent hEvent, CUstream hStream), (hEvent, hStream))
{
    return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT);
}

static CUresult wait_for_last(const soft_event *event, soft_stream *stream)
{
    pthread_mutex_lock(&soft_lock);
    soft_mark *mark = event->last;
    const bool reached = mark && mark->done;
    if (mark && !reached)
        mark->holders++;
    pthread_mutex_unlock(&soft_lock);
    if (!mark || reached)
        return mark ? soft_stream_order(stream) : CUDA_SUCCESS;
    CUresult result = soft_stream_push(stream, run_wait, mark);
    if (result != CUDA_SUCCESS) {
        SOFT_LOCK(&soft_lock);
        mark_drop(mark);
    }
    return result;
}

SOFT_API_ptsz(cuStreamWaitEvent, (CUstream hStream, CUevent hEvent, unsigned int Flags),
              (hStream, hEvent, Flags))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_GET(soft_event *, event, get_event(hEvent, &event));
    SOFT_TRY(check_flags(stream, Flags));
    if (Flags == CU_EVENT_WAIT_EXTERNAL)
        return soft_capture_add(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                &(soft_node_work){.event = hEvent});
    if (stream->capture || event->captured)
        return soft_capture_wait(stream, event->captured);
    return event->shared ? soft_shared_event_wait_on(event->shared, stream)
                         : wait_for_last(event, stream);
}

static CUresult check_not_captured(const soft_event *event)
{
    return event->captured ? CUDA_ERROR_CAPTURED_EVENT : soft_capture_check_unsafe();
}

SOFT_API cuEventQuery(CUevent hEvent)
{
    SOFT_GET(soft_event *, event, get_event(hEvent, &event));
    SOFT_TRY(check_not_captured(event));
    SOFT_LOCK(&soft_lock);
    bool pending = event->shared ? !soft_shared_event_is_done(event->shared)
                                 : event->last && !event->last->done;
    CUresult result = event->context->sticky;
    return pending && result == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : result;
}

/* Releases the lock during the wait. Another thread may destroy the event meanwhile. */
static CUresult wait_unlocked(soft_shared_event *shared)
{
    soft_shared_event_hold(shared);
    pthread_mutex_unlock(&soft_lock);
    CUresult result = soft_shared_event_wait(shared);
    soft_shared_event_drop(shared);
    pthread_mutex_lock(&soft_lock);
    return result;
}

SOFT_API cuEventSynchronize(CUevent hEvent)
{
    SOFT_GET(soft_event *, event, get_event(hEvent, &event));
    SOFT_TRY(check_not_captured(event));
    CUresult result = CUDA_SUCCESS;
    SOFT_LOCK(&soft_lock);
    soft_context *context = event->context;
    if (event->shared)
        result = wait_unlocked(event->shared);
    else if (event->last)
        mark_wait(event->last);
    return context->sticky != CUDA_SUCCESS ? context->sticky : result;
}

SOFT_API cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    soft_event *start, *end;
    SOFT_TRY(get_event(hStart, &start));
    SOFT_TRY(get_event(hEnd, &end));
    SOFT_FAIL_IF(!pMilliseconds || start->context->device != end->context->device ||
                     ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING),
                 CUDA_ERROR_INVALID_HANDLE);

    SOFT_LOCK(&soft_lock);
    SOFT_FAIL_IF(!start->last || !end->last, CUDA_ERROR_INVALID_HANDLE);
    SOFT_FAIL_IF(!start->last->done || !end->last->done, CUDA_ERROR_NOT_READY);
    *pMilliseconds = (float)(int64_t)(end->last->nanoseconds - start->last->nanoseconds) / 1e6f;
    return CUDA_SUCCESS;
}

SOFT_API_v1(cuEventElapsedTime, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
            (pMilliseconds, hStart, hEnd))
