/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Streams for applications: handles, default streams, queries and host functions. */
#include "softcuda/driver/context/context.h"
#include "softcuda/driver/graph/graph.h"
#include "softcuda/driver/graph/graph_work.h"

/* ---- Handles to streams ---------------------------------------------------------------------- */

static pthread_key_t thread_end;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static _Thread_local uint64_t this_thread;

static void close_streams_of_thread(void *owner)
{
    SOFT_LOCK(&soft_lock);
    soft_stream_close_owned((uint64_t)(uintptr_t)owner);
}

static void make_key(void)
{
    pthread_key_create(&thread_end, close_streams_of_thread);
}

static soft_stream *per_thread_stream(soft_context *context)
{
    if (!this_thread) {
        pthread_once(&key_once, make_key);
        this_thread = soft_next_id();
        pthread_setspecific(thread_end, (void *)(uintptr_t)this_thread);
    }
    SOFT_LOCK(&soft_lock);
    soft_stream *stream = context->streams;
    while (stream && !(stream->owner == this_thread && stream->open))
        stream = stream->next;
    if (!stream) {
        stream = soft_stream_open(context, SOFT_STREAM_BLOCKING, 0);
        if (stream)
            stream->owner = this_thread;
    }
    return stream;
}

static CUresult default_stream(bool per_thread, soft_stream **stream)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    if (!per_thread) {
        SOFT_TRY(soft_capture_check_legacy(context));
        SOFT_LOCK(&soft_lock);
        *stream = context->legacy;
        return *stream ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    *stream = per_thread_stream(context);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult soft_stream_get(CUstream handle, soft_stream **stream)
{
    if (!handle)
        return default_stream(soft_default_stream_is_per_thread, stream);
    if (handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return default_stream(handle == CU_STREAM_PER_THREAD, stream);

    SOFT_TRY(soft_check_init());
    *stream = soft_handle_get(SOFT_KIND_STREAM, handle);
    SOFT_FAIL_IF(!*stream, CUDA_ERROR_INVALID_HANDLE);
    SOFT_LOCK(&soft_lock);
    return (*stream)->context->sticky;
}

soft_context *soft_stream_context(const soft_stream *stream)
{
    return stream->context;
}

/* ---- Creation and destruction ---------------------------------------------------------------- */

SOFT_API cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    SOFT_GET(soft_context *, context, soft_check_context(&context));
    SOFT_FAIL_IF(!phStream || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING),
                 CUDA_ERROR_INVALID_VALUE);

    if (priority > 0)
        priority = 0;
    if (priority < SOFT_GREATEST_PRIORITY)
        priority = SOFT_GREATEST_PRIORITY;
    enum soft_stream_kind kind = flags ? SOFT_STREAM_NON_BLOCKING : SOFT_STREAM_BLOCKING;
    SOFT_LOCK(&soft_lock);
    soft_stream *stream = soft_stream_open(context, kind, priority);
    if (stream)
        *phStream = stream->handle;
    return stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SOFT_FORWARD(cuStreamCreate, (CUstream * phStream, unsigned int Flags),
             cuStreamCreateWithPriority(phStream, Flags, 0))

SOFT_API cuStreamDestroy_v2(CUstream hStream)
{
    SOFT_TRY(soft_check_init());
    soft_graph *captured = NULL;
    pthread_mutex_lock(&soft_lock);
    soft_stream *stream = soft_handle_get(SOFT_KIND_STREAM, hStream);
    if (stream) {
        captured = soft_capture_abandon(stream);
        soft_stream_close(stream);
    }
    pthread_mutex_unlock(&soft_lock);
    soft_graph_drop(captured);
    return stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

SOFT_API_v1(cuStreamDestroy, (CUstream hStream), (hStream))

/* ---- Waiting --------------------------------------------------------------------------------- */

SOFT_API_ptsz(cuStreamSynchronize, (CUstream hStream), (hStream))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    return soft_stream_wait(stream);
}

/* The legacy stream is idle only if the blocking streams that it waits for are idle, too. */
static bool is_idle_locked(const soft_stream *stream)
{
    if (!soft_stream_idle(stream))
        return false;
    if (stream->kind != SOFT_STREAM_LEGACY)
        return true;
    for (const soft_stream *other = stream->context->streams; other; other = other->next)
        if (other->kind == SOFT_STREAM_BLOCKING && !soft_stream_idle(other))
            return false;
    return true;
}

SOFT_API_ptsz(cuStreamQuery, (CUstream hStream), (hStream))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    if (stream->capture)
        return soft_capture_refuse(stream);
    SOFT_TRY(soft_capture_check_unsafe());
    SOFT_LOCK(&soft_lock);
    bool idle = is_idle_locked(stream);
    return idle ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* ---- Host functions -------------------------------------------------------------------------- */

typedef struct {
    CUhostFn function;
    CUstreamCallback callback;
    void *data;
    CUstream stream;
} host_call;

void soft_host_call_run(void *copy)
{
    const host_call *call = copy;
    soft_in_callback = true;
    if (call->callback)
        call->callback(call->stream, soft_task_error, call->data);
    else if (soft_task_error == CUDA_SUCCESS)
        call->function(call->data);
    soft_in_callback = false;
}

void soft_host_call_describe(const void *payload, CUDA_HOST_NODE_PARAMS *params)
{
    const host_call *call = payload;
    *params = (CUDA_HOST_NODE_PARAMS){.fn = call->function, .userData = call->data};
}

SOFT_API_ptsz(cuLaunchHostFunc, (CUstream hStream, CUhostFn fn, void *userData),
              (hStream, fn, userData))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF(!fn, CUDA_ERROR_INVALID_VALUE);
    host_call call = {.function = fn, .data = userData};
    return soft_stream_push_copy(stream, soft_host_call_run, &call, sizeof(call));
}

SOFT_API_ptsz(cuStreamAddCallback,
              (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags),
              (hStream, callback, userData, flags))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF(!callback || flags != 0, CUDA_ERROR_INVALID_VALUE);
    if (stream->capture)
        return soft_capture_refuse(stream);
    host_call call = {.callback = callback, .data = userData, .stream = hStream};
    return soft_stream_push_copy(stream, soft_host_call_run, &call, sizeof(call));
}

/* ---- Queries --------------------------------------------------------------------------------- */

#define QUERY(name, type, value)                                                                   \
    SOFT_API_ptsz(name, (CUstream handle, type * answer), (handle, answer))                        \
    {                                                                                              \
        soft_stream *stream;                                                                       \
        SOFT_TRY(soft_stream_get(handle, &stream));                                                \
        if (!answer)                                                                               \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *answer = value;                                                                           \
        return CUDA_SUCCESS;                                                                       \
    }
QUERY(cuStreamGetCtx, CUcontext, soft_context_handle(stream->context))
QUERY(cuStreamGetDevice, CUdevice, stream->context->device)
QUERY(cuStreamGetFlags, unsigned int, stream->flags)
QUERY(cuStreamGetPriority, int, stream->priority)
QUERY(cuStreamGetId, unsigned long long, stream->id)

/* ---- Per-thread twins ------------------------------------------------------------------------ */
