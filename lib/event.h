/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA events, after which objects can be destroyed. */
#ifndef GR_LIB_EVENT_H
#define GR_LIB_EVENT_H

#include <cuda.h>
#include <stdbool.h>

#include <grinterop/gr.h>

/* Creates an event without timing if *event is NULL. */
gr_status gr_event_create(CUevent *event);

/* Makes the stream wait for the caller's event; NULL: no wait. */
gr_status gr_event_wait(CUstream stream, CUevent wait_event);

/*
 * Whether the work before an event is done. If the driver reports an error, this call waits: only
 * CUDA_ERROR_NOT_READY means unfinished. The CUDA context of the event is current. Records no
 * error.
 */
bool gr_event_has_passed(CUevent event);

/*
 * CUDA_ERROR_STREAM_CAPTURE_... if an event recorded in the stream would become part of a graph.
 * The next call reports other errors of the stream. The CUDA context of a default stream is
 * current. Records no error.
 */
CUresult gr_event_capture(CUstream stream);

#endif
