/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stream capture. While a stream is captured, soft_stream_push_copy() adds a node to a graph and
 * queues nothing. All functions are thread-safe, and may be called with soft_lock held.
 */
#ifndef GR_SOFTCUDA_DRIVER_CAPTURE_POINT_H
#define GR_SOFTCUDA_DRIVER_CAPTURE_POINT_H

#include "softcuda/driver/stream/scheduler.h"

#if CUDA_VERSION < 12030
typedef struct {
    unsigned char bytes[8];
} CUgraphEdgeData;
#endif

typedef struct soft_capture soft_capture;

/* A capture, and the nodes that the next node of a stream, or of a waiter, depends on. */
typedef struct soft_capture_point {
    soft_capture *capture;
    CUgraphNode *nodes;
    CUgraphEdgeData *data; /* zeros, for cuStreamGetCaptureInfo */
    size_t count;
} soft_capture_point;

/* The number of captures. While it is 0, the checks below do nothing. */
extern _Atomic unsigned soft_captures;

/*
 * For uses of the legacy stream. If a blocking stream of the context is captured, invalidates the
 * captures and returns CUDA_ERROR_STREAM_CAPTURE_IMPLICIT.
 */
CUresult soft_capture_check_legacy(const soft_context *context);

/* The event becomes a point of the stream's capture. */
CUresult soft_capture_record(const soft_stream *stream, soft_capture_point **event);

/* The stream joins the capture of the event, or adds the nodes of the event to its own. */
CUresult soft_capture_wait(soft_stream *stream, const soft_capture_point *event);

#endif
