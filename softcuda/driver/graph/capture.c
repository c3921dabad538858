/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stream capture. */
#include "softcuda/driver/graph/graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct soft_capture {
    soft_capture *next;
    unsigned holders;     /* the points that refer to it */
    soft_graph *graph;    /* NULL once the capture has ended */
    soft_node_work *work; /* for soft_capture_work(); then there is no graph */
    bool is_invalid;
    CUstreamCaptureMode mode;
    uint64_t id;
    pthread_t thread;
    soft_stream *origin;
};

/* Protects captures and their points; taken after soft_lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

_Atomic unsigned soft_captures;

static soft_capture *captures; /* those of cuStreamBeginCapture that have not ended */
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

/* ---- Points ---------------------------------------------------------------------------------- */

static void drop_locked(soft_capture *capture)
{
    if (--capture->holders == 0)
        free(capture);
}

static void forget_locked(soft_capture_point **point)
{
    if (!*point)
        return;
    drop_locked((*point)->capture);
    free((*point)->nodes);
    free((*point)->data);
    free(*point);
    *point = NULL;
}

void soft_capture_forget(soft_capture_point **point)
{
    SOFT_LOCK(&lock);
    forget_locked(point);
}

static bool has_node(const soft_capture_point *point, CUgraphNode node)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->nodes[i] == node)
            return true;
    return false;
}

/* Adds the nodes that the point lacks; false if out of memory. */
static bool add_nodes(soft_capture_point *point, const CUgraphNode *nodes, size_t count)
{
    size_t limit = point->count + count + 1;
    CUgraphNode *larger = realloc(point->nodes, limit * sizeof(*larger));
    if (!larger)
        return false;
    point->nodes = larger;
    CUgraphEdgeData *data = realloc(point->data, limit * sizeof(*data));
    if (!data)
        return false;
    point->data = memset(data, 0, limit * sizeof(*data));
    for (size_t i = 0; i < count; i++)
        if (!has_node(point, nodes[i]))
            point->nodes[point->count++] = nodes[i];
    return true;
}

static soft_capture_point *point_new(soft_capture *capture, const CUgraphNode *nodes, size_t count)
{
    soft_capture_point *point = calloc(1, sizeof(*point));
    if (!point)
        return NULL;
    point->capture = capture;
    capture->holders++;
    if (!add_nodes(point, nodes, count))
        forget_locked(&point);
    return point;
}

/* A stream captures into a new capture; false if out of memory. */
static bool start_locked(soft_stream *stream, const soft_capture *values)
{
    soft_capture *capture = malloc(sizeof(*capture));
    if (!capture)
        return false;
    *capture = *values;
    capture->holders = 1;
    stream->capture = point_new(capture, NULL, 0);
    drop_locked(capture);
    return stream->capture;
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static CUresult invalidate_locked(soft_capture *capture, CUresult error)
{
    capture->is_invalid = true;
    return error;
}

CUresult soft_capture_refuse(const soft_stream *stream)
{
    SOFT_LOCK(&lock);
    if (stream->capture)
        invalidate_locked(stream->capture->capture, CUDA_SUCCESS);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static bool forbids_unsafe(const soft_capture *capture)
{
    if (capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    bool is_own = pthread_equal(capture->thread, pthread_self());
    return is_own || (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                      thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult soft_capture_check_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    if (!atomic_load(&soft_captures))
        return result;
    SOFT_LOCK(&lock);
    for (soft_capture *capture = captures; capture; capture = capture->next)
        if (forbids_unsafe(capture))
            result = invalidate_locked(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return result;
}

static CUresult check_streams(const soft_context *context, bool blocking, CUresult error)
{
    CUresult result = CUDA_SUCCESS;
    if (!atomic_load(&soft_captures))
        return result;
    SOFT_LOCK(&lock);
    for (soft_capture *capture = captures; capture; capture = capture->next) {
        const soft_stream *stream = capture->origin;
        if (stream->context == context && (!blocking || stream->kind == SOFT_STREAM_BLOCKING))
            result = invalidate_locked(capture, error);
    }
    return result;
}

CUresult soft_capture_check_legacy(const soft_context *context)
{
    return check_streams(context, true, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

CUresult soft_capture_check_context(const soft_context *context)
{
    return check_streams(context, false, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

/* ---- Work ------------------------------------------------------------------------------------ */

static CUresult add_locked(soft_capture_point *point, CUgraphNodeType type,
                           const soft_node_work *work)
{
    soft_node *node;
    soft_capture *capture = point->capture;
    SOFT_FAIL_IF(capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (capture->work) {
        *capture->work = *work;
        return CUDA_SUCCESS;
    }
    SOFT_TRY(soft_node_new(capture->graph, type, point->nodes, NULL, point->count, &node));
    node->work = *work;
    point->count = 0;
    return add_nodes(point, &node->handle, 1) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult soft_capture_add(soft_stream *stream, CUgraphNodeType type, const soft_node_work *work)
{
    SOFT_LOCK(&lock);
    CUresult result =
        stream->capture ? add_locked(stream->capture, type, work) : CUDA_ERROR_INVALID_HANDLE;
    return result;
}

CUresult soft_capture_work(soft_stream *stream, soft_node_work *work)
{
    SOFT_LOCK(&lock);
    bool started = start_locked(stream, &(soft_capture){.work = work});
    return started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult soft_capture_push(soft_stream *stream, void (*run)(void *payload), const void *data,
                           size_t size)
{
    CUgraphNodeType type;
    if (!soft_work_type(run, &type))
        return soft_capture_refuse(stream);
    soft_node_work work = {.run = run, .payload = malloc(size), .size = size};
    SOFT_FAIL_IF(!work.payload, CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(work.payload, data, size);
    CUresult result = soft_capture_add(stream, type, &work);
    if (result != CUDA_SUCCESS)
        free(work.payload);
    return result;
}

/* ---- Events ---------------------------------------------------------------------------------- */

CUresult soft_capture_record(const soft_stream *stream, soft_capture_point **event)
{
    SOFT_LOCK(&lock);
    const soft_capture_point *at = stream->capture;
    soft_capture_point *point = at ? point_new(at->capture, at->nodes, at->count) : NULL;
    if (point) {
        forget_locked(event);
        *event = point;
    }
    return point ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult wait_locked(soft_stream *stream, const soft_capture_point *event)
{
    soft_capture_point *at = stream->capture;
    if (!event)
        return invalidate_locked(at->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    soft_capture *capture = event->capture;
    if (!capture->graph)
        return at ? invalidate_locked(at->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
                  : CUDA_ERROR_CAPTURED_EVENT;
    if (stream->kind == SOFT_STREAM_LEGACY)
        return invalidate_locked(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    SOFT_FAIL_IF(capture->is_invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (at && at->capture != capture) {
        invalidate_locked(capture, CUDA_SUCCESS);
        return invalidate_locked(at->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (at)
        return add_nodes(at, event->nodes, event->count) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    stream->capture = point_new(capture, event->nodes, event->count);
    return stream->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult soft_capture_wait(soft_stream *stream, const soft_capture_point *event)
{
    SOFT_LOCK(&lock);
    return wait_locked(stream, event);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

SOFT_API_ptsz(cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode),
              (hStream, mode))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_ERROR_INVALID_VALUE);
    SOFT_FAIL_IF(stream->kind == SOFT_STREAM_LEGACY, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    SOFT_FAIL_IF(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    soft_graph *graph = soft_graph_new(false);
    SOFT_FAIL_IF(!graph, CUDA_ERROR_OUT_OF_MEMORY);
    const soft_capture values = {.graph = graph,
                                 .mode = mode,
                                 .id = soft_next_id(),
                                 .thread = pthread_self(),
                                 .origin = stream};
    pthread_mutex_lock(&lock);
    bool started = start_locked(stream, &values);
    if (started) {
        stream->capture->capture->next = captures;
        captures = stream->capture->capture;
        atomic_fetch_add(&soft_captures, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!started)
        soft_graph_drop(graph);
    return started ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Whether each node of the point is also in the origin's point, or has dependent nodes. */
static bool is_joined(const soft_capture_point *at, const soft_capture_point *origin)
{
    for (size_t i = 0; i < at->count; i++) {
        const soft_node *node = soft_handle_get(SOFT_KIND_GRAPH_NODE, at->nodes[i]);
        if (node && !has_node(origin, at->nodes[i]) && !soft_node_has_dependents(node))
            return false;
    }
    return true;
}

/* All streams leave the capture. CUDA_ERROR_STREAM_CAPTURE_UNJOINED if one has work of its own. */
static CUresult leave_locked(soft_capture *capture)
{
    CUresult result = CUDA_SUCCESS;
    for (soft_context *context = soft_contexts; context; context = context->next)
        for (soft_stream *s = context->streams; s; s = s->next) {
            if (s == capture->origin || !s->capture || s->capture->capture != capture)
                continue;
            if (!is_joined(s->capture, capture->origin->capture))
                result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
            forget_locked(&s->capture);
        }
    forget_locked(&capture->origin->capture);
    return result;
}

/* Ends the capture, and gets its graph also after an error. */
static CUresult end_locked(soft_capture *capture, soft_graph **graph)
{
    soft_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    atomic_fetch_sub(&soft_captures, 1);
    capture->holders++;
    CUresult result = leave_locked(capture);
    if (capture->is_invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = capture->graph;
    capture->graph = NULL;
    drop_locked(capture);
    return result;
}

/* Checks that the stream and the thread may end the capture. */
static CUresult check_end_locked(const soft_stream *stream)
{
    SOFT_FAIL_IF(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    soft_capture *capture = stream->capture->capture;
    if (capture->origin != stream)
        return invalidate_locked(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    return capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
                   pthread_equal(capture->thread, pthread_self())
               ? CUDA_SUCCESS
               : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* phGraph may be NULL: the caller can know the graph from cuStreamGetCaptureInfo. */
SOFT_API_ptsz(cuStreamEndCapture, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph))
{
    soft_graph *graph = NULL;
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    pthread_mutex_lock(&soft_lock);
    pthread_mutex_lock(&lock);
    CUresult result = check_end_locked(stream);
    if (result == CUDA_SUCCESS)
        result = end_locked(stream->capture->capture, &graph);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&soft_lock);
    if (phGraph)
        *phGraph = result == CUDA_SUCCESS ? graph->handle : NULL;
    if (result != CUDA_SUCCESS)
        soft_graph_drop(graph);
    return result;
}

soft_graph *soft_capture_abandon(soft_stream *stream)
{
    soft_graph *graph = NULL;
    SOFT_LOCK(&lock);
    if (stream->capture && stream->capture->capture->origin == stream)
        end_locked(stream->capture->capture, &graph);
    forget_locked(&stream->capture);
    return graph;
}

SOFT_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    SOFT_TRY(soft_check_init());
    SOFT_FAIL_IF(!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED,
                 CUDA_ERROR_INVALID_VALUE);
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static CUstreamCaptureStatus status_of(const soft_stream *stream)
{
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

SOFT_API_ptsz(cuStreamIsCapturing, (CUstream hStream, CUstreamCaptureStatus *captureStatus),
              (hStream, captureStatus))
{
    soft_stream *stream;
    if ((uintptr_t)hStream <= (uintptr_t)CU_STREAM_PER_THREAD)
        SOFT_TRY(soft_query_context(NULL)); /* logs nothing, as programs ask before they begin */
    SOFT_TRY(soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF(!captureStatus, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    *captureStatus = status_of(stream);
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12030
SOFT_API_ptsz(cuStreamGetCaptureInfo_v3,
              (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
               CUgraph *graph_out, const CUgraphNode **dependencies_out,
               const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out),
              (hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
               numDependencies_out))
{
    SOFT_GET(soft_stream *, stream, soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF(!captureStatus_out, CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    *captureStatus_out = status_of(stream);
    const soft_capture_point *at = stream->capture;
    if (*captureStatus_out == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (id_out)
            *id_out = at->capture->id;
        if (graph_out)
            *graph_out = at->capture->graph->handle;
        if (dependencies_out)
            *dependencies_out = at->nodes;
        if (edgeData_out)
            *edgeData_out = at->data;
        if (numDependencies_out)
            *numDependencies_out = at->count;
    }
    return CUDA_SUCCESS;
}

SOFT_API_ptsz(cuStreamUpdateCaptureDependencies_v2,
              (CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
               size_t numDependencies, unsigned int flags),
              (hStream, dependencies, dependencyData, numDependencies, flags))
{
    soft_stream *stream;
    (void)dependencyData;
    SOFT_TRY(soft_stream_get(hStream, &stream));
    SOFT_FAIL_IF(flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies),
                 CUDA_ERROR_INVALID_VALUE);
    SOFT_LOCK(&lock);
    SOFT_FAIL_IF(status_of(stream) != CU_STREAM_CAPTURE_STATUS_ACTIVE, CUDA_ERROR_ILLEGAL_STATE);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        stream->capture->count = 0;
    return add_nodes(stream->capture, dependencies, numDependencies) ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_OUT_OF_MEMORY;
}
#endif
