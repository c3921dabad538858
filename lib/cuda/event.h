/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA events, after which objects can be destroyed. */
#ifndef GR_LIB_CUDA_EVENT_H
#define GR_LIB_CUDA_EVENT_H

#include <stdbool.h>

#include <grinterop/gr.h>

#include "lib/base/cuda_abi.h"

/* Creates an event without timing if *event is NULL. */
gr_status gr_event_create(CUevent *event);

/* Makes the stream wait for the caller's event; does nothing if the event is NULL. */
gr_status gr_event_wait(CUstream stream, CUevent wait_event);

/*
 * Blocks until the work before the event is done, or, if the event is NULL, the work in the stream.
 * After timeout_ms, or at once if it is 0, returns CUDA_ERROR_NOT_READY. This function polls,
 * because a driver may wait forever if work in the context fails meanwhile: the stream may wait for
 * graphics work that waits for CUDA.
 */
CUresult gr_event_poll(CUevent event, CUstream stream, unsigned timeout_ms);

static inline CUresult gr_event_finish(CUevent event)
{
    return gr_event_poll(event, NULL, GR_WAIT_FOREVER);
}

/*
 * Makes the calling thread wait for work after which no event could be recorded. If the stream is
 * invalid, waits for the whole current context. Records no error.
 */
CUresult gr_stream_finish(CUstream stream);

/* Whether two handles are one stream. CU_STREAM_PER_THREAD is another one in each thread. */
static inline bool gr_stream_is_same(CUstream a, CUstream b)
{
    return a == b && a != CU_STREAM_PER_THREAD;
}

/*
 * Whether the work before an event is done, or has failed. Only CUDA_ERROR_NOT_READY means that it
 * is unfinished: after a query that failed for another reason than the work this function waits.
 * The CUDA context of the event is current. Records no error.
 */
bool gr_event_has_passed(CUevent event);

/*
 * Whether earlier work in the CUDA context of the event has failed, so that nothing that follows
 * runs. Records no error.
 */
bool gr_event_has_failed(CUevent event);

/*
 * Returns CUDA_ERROR_STREAM_CAPTURE_... if an event recorded in the stream would become part of a
 * graph. Other errors of the stream are left to the next call. The CUDA context of a default stream
 * is current. Records no error.
 */
CUresult gr_event_capture(CUstream stream);

#endif
