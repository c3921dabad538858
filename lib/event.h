/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CUDA events after which something ends. */
#ifndef GR_LIB_EVENT_H
#define GR_LIB_EVENT_H

#include <cuda.h>
#include <stdbool.h>

#include <grinterop/gr.h>

/* Creates an event without timing, unless *event exists. */
gr_status gr_event_create(CUevent *event);

/* Makes the stream wait for an event of the caller, if not NULL. */
gr_status gr_event_wait(CUstream stream, CUevent wait_event);

/*
 * Whether the work before an event is done. If the driver reports an error, this waits: only
 * CUDA_ERROR_NOT_READY means unfinished. The event's CUDA context is current. It records no error.
 */
bool gr_event_has_passed(CUevent event);

/*
 * CUDA_ERROR_STREAM_CAPTURE_... if an event recorded in the stream would become a part of a graph.
 * Other errors of the stream are left to the next call. The CUDA context of a default stream is
 * current. It records no error.
 */
CUresult gr_event_capture(CUstream stream);

#endif
